# SPDX-License-Identifier: Apache-2.0
"""Contenders that use redis-py's Lock, each with a connection of its own.

  redis_client.py HOST PORT

Commands, one a line:
  acquire NAME KEY SECONDS   SECONDS 0: no expiry; answers "held NAME TOKEN"
  release NAME               answers "released NAME"
  count NAME KEY FILE ROUNDS adds one to the number in the file so often, each time under the lock and in two
                             steps that the lock alone protects; answers "counted NAME"
Answers "ready" first.
"""
import sys
import threading
import time

import redis

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


class Contender:
    def __init__(self, host, port, name, key, seconds):
        self.name = name
        connection = redis.Redis(host=host, port=port)
        self.lock = connection.lock(key, timeout=seconds or None, sleep=0.02, thread_local=False)

    def start(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def acquire(self):
        if self.lock.acquire():
            say("held " + self.name + " " + self.lock.local.token.decode())

    def release(self):
        self.lock.release()
        say("released " + self.name)

    def count(self, path, rounds):
        for _ in range(rounds):
            with self.lock:
                with open(path) as file:
                    number = int(file.read())
                time.sleep(0.002)
                with open(path, "w") as file:
                    file.write(str(number + 1))
        say("counted " + self.name)


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    contenders = {}
    say("ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            contenders[words[1]] = Contender(host, port, words[1], words[2], float(words[3]))
            contenders[words[1]].start(contenders[words[1]].acquire)
        elif words[0] == "count":
            contenders[words[1]] = Contender(host, port, words[1], words[2], 30)
            contenders[words[1]].start(contenders[words[1]].count, words[3], int(words[4]))
        elif words[0] == "release":
            contenders[words[1]].release()


main()
