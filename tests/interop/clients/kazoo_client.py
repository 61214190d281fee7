# SPDX-License-Identifier: Apache-2.0
"""Contenders that use kazoo, each with a session of its own.

  kazoo_client.py HOST:PORT

Commands, one a line:
  acquire NAME KIND PATH [LIMIT]   KIND: lock, lock-among-others (counts "-lock-" nodes, too), read, write,
                                   semaphore, lease (of three minutes, or "missed NAME"); answers "held NAME"
  release NAME                     answers "released NAME"
  count NAME KIND PATH FILE ROUNDS adds one to the number in the file so often, each time under the lock and
                                   in two steps that the lock alone protects; answers "counted NAME"
The end of the input closes every session. Answers "ready VERSION" first.
"""
import datetime
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.version import __version__

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


class Lease:
    """It blocks nobody and is never given back: its time ends."""

    def __init__(self, client, path, name):
        self.client, self.path, self.name = client, path, name

    def acquire(self):
        if self.client.NonBlockingLease(self.path, datetime.timedelta(minutes=3), identifier=self.name):
            return True
        say("missed " + self.name)
        return False


class Contender:
    def __init__(self, hosts, name, kind, path, limit):
        self.name = name
        self.client = KazooClient(hosts=hosts, timeout=10)
        self.client.start(timeout=30)
        if kind == "lease":
            self.lock = Lease(self.client, path, name)
        elif kind == "semaphore":
            self.lock = self.client.Semaphore(path, identifier=name, max_leases=limit)
        else:
            makers = {"lock": self.client.Lock, "read": self.client.ReadLock, "write": self.client.WriteLock,
                      "lock-among-others": self.among_others}
            self.lock = makers[kind](path, identifier=name)

    def among_others(self, path, identifier):
        return self.client.Lock(path, identifier=identifier, extra_lock_patterns=["-lock-"])

    def start(self, work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def acquire(self):
        if self.lock.acquire():
            say("held " + self.name)

    def count(self, path, rounds):
        for _ in range(rounds):
            with self.lock:
                with open(path) as file:
                    number = int(file.read())
                time.sleep(0.002)
                with open(path, "w") as file:
                    file.write(str(number + 1))
        say("counted " + self.name)

    def release(self):
        self.lock.release()
        say("released " + self.name)


def main():
    hosts = sys.argv[1]
    contenders = {}
    say("ready " + __version__)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            name, kind, path = words[1:4]
            limit = int(words[4]) if len(words) > 4 else 1
            contenders[name] = Contender(hosts, name, kind, path, limit)
            contenders[name].start(contenders[name].acquire)
        elif words[0] == "count":
            name, kind, path, file, rounds = words[1:6]
            contenders[name] = Contender(hosts, name, kind, path, 1)
            contenders[name].start(contenders[name].count, file, int(rounds))
        elif words[0] == "release":
            contenders[words[1]].release()
    for contender in contenders.values():
        contender.client.stop()


main()
