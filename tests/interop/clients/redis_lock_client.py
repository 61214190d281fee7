# SPDX-License-Identifier: Apache-2.0
"""Contenders that use python-redis-lock, django-redis' lock or sherlock's, each with a connection of its own.

  redis_lock_client.py KIND HOST:PORT     KIND: python-redis-lock, python-redis-lock-named, django-redis, sherlock

Commands, one a line:
  acquire NAME KEY MILLISECONDS   answers "held NAME VALUE"
  release NAME                    answers "released NAME"; "failed NAME WHY" when it was not its own any more
Answers "ready" first; the end of the input ends the program.
"""
import sys
import threading

import redis

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


def python_lock(connection, key, seconds, name):
    import redis_lock

    identity = "worker-" + name if kind.endswith("-named") else None
    return redis_lock.Lock(connection, key[len("lock:"):], expire=seconds, id=identity)


def django_lock(server, key, seconds):
    import django.conf
    from django_redis.cache import RedisCache

    if not django.conf.settings.configured:
        django.conf.settings.configure()
    cache = RedisCache("redis://" + server + "/0", {"KEY_PREFIX": "", "VERSION": 1})
    prefix = ":1:"
    return cache.lock(key[len(prefix):], timeout=seconds, sleep=0.05, thread_local=False)


def sherlock_lock(connection, key, seconds):
    import sherlock

    return sherlock.RedisLock(key, client=connection, expire=seconds, timeout=120, retry_interval=0.05)


class Contender:
    def __init__(self, server, name, key, seconds):
        host, port = server.split(":")
        self.name, self.key = name, key
        self.connection = redis.StrictRedis(host=host, port=int(port))
        if kind == "django-redis":
            self.lock = django_lock(server, key, seconds)
        elif kind == "sherlock":
            self.lock = sherlock_lock(self.connection, key, seconds)
        else:
            self.lock = python_lock(self.connection, key, seconds, name)
        threading.Thread(target=self.acquire, daemon=True).start()

    def acquire(self):
        if self.lock.acquire():
            say("held " + self.name + " " + self.connection.get(self.key).decode())

    def release(self):
        try:
            self.lock.release()
            say("released " + self.name)
        except Exception as failure:
            say("failed " + self.name + " " + type(failure).__name__)


kind = sys.argv[1]


def main():
    contenders = {}
    say("ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            contenders[words[1]] = Contender(sys.argv[2], words[1], words[2], int(words[3]) // 1000)
        elif words[0] == "release":
            contenders[words[1]].release()


main()
