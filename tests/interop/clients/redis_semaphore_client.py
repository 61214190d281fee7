# SPDX-License-Identifier: Apache-2.0
"""Contenders that use redis-semaphore, a semaphore of two permits, each with a connection of its own.

  redis_semaphore_client.py HOST:PORT

Commands, one a line:
  acquire NAME KEY      KEY: NAMESPACE:GRABBED; answers "held NAME PERMIT"
  release NAME          answers "released NAME"; "failed NAME" when it had none any more
Answers "ready" first; the end of the input ends the program.
"""
import sys
import threading

import redis
import redis_semaphore

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


class Contender:
    def __init__(self, server, name, key):
        host, port = server.split(":")
        self.name = name
        self.semaphore = redis_semaphore.Semaphore(
            redis.StrictRedis(host=host, port=int(port)), count=2, namespace=key[: -len(":GRABBED")]
        )
        threading.Thread(target=self.acquire, daemon=True).start()

    def acquire(self):
        say("held " + self.name + " " + self.semaphore.acquire().decode())

    def release(self):
        say(("released " if self.semaphore.release() else "failed ") + self.name)


def main():
    contenders = {}
    say("ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            contenders[words[1]] = Contender(sys.argv[1], words[1], words[2])
        else:
            contenders[words[1]].release()


main()
