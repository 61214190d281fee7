"""Contenders that use redis-py's Lock, each with a connection of its own.

  redis_client.py HOST PORT

Commands, one a line:
  acquire NAME KEY SECONDS   SECONDS 0: no expiry; answers "held NAME TOKEN"
  release NAME               answers "released NAME"
Answers "ready" first.
"""
import sys
import threading

import redis

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


class Contender:
    def __init__(self, host, port, name, key, seconds):
        self.name = name
        connection = redis.Redis(host=host, port=port)
        self.lock = connection.lock(key, timeout=seconds or None, thread_local=False)
        threading.Thread(target=self.acquire, daemon=True).start()

    def acquire(self):
        if self.lock.acquire():
            say("held " + self.name + " " + self.lock.local.token.decode())

    def release(self):
        self.lock.release()
        say("released " + self.name)


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    contenders = {}
    say("ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            contenders[words[1]] = Contender(host, port, words[1], words[2], float(words[3]))
        elif words[0] == "release":
            contenders[words[1]].release()


main()
