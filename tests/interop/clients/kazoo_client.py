"""Contenders that use kazoo, each with a session of its own.

  kazoo_client.py HOST:PORT

Commands, one a line:
  acquire NAME KIND PATH [LIMIT]   KIND: lock, read, write, semaphore; answers "held NAME"
  release NAME                     answers "released NAME"
The end of the input closes every session. Answers "ready" first.
"""
import sys
import threading

from kazoo.client import KazooClient

said = threading.Lock()


def say(text):
    with said:
        print(text, flush=True)


class Contender:
    def __init__(self, hosts, name, kind, path, limit):
        self.name = name
        self.client = KazooClient(hosts=hosts, timeout=10)
        self.client.start(timeout=30)
        if kind == "semaphore":
            self.lock = self.client.Semaphore(path, identifier=name, max_leases=limit)
        else:
            makers = {"lock": self.client.Lock, "read": self.client.ReadLock, "write": self.client.WriteLock}
            self.lock = makers[kind](path, identifier=name)
        self.thread = threading.Thread(target=self.acquire, daemon=True)
        self.thread.start()

    def acquire(self):
        if self.lock.acquire():
            say("held " + self.name)

    def release(self):
        self.lock.release()
        say("released " + self.name)


def main():
    hosts = sys.argv[1]
    contenders = {}
    say("ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "acquire":
            name, kind, path = words[1:4]
            limit = int(words[4]) if len(words) > 4 else 1
            contenders[name] = Contender(hosts, name, kind, path, limit)
        elif words[0] == "release":
            contenders[words[1]].release()
    for contender in contenders.values():
        contender.client.stop()


main()
