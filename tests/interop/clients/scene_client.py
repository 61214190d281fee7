# SPDX-License-Identifier: Apache-2.0
"""A random scene of kazoo's and redis-py's locks, and what these clients themselves say of it.

  scene_client.py ZOOKEEPER REDIS SEED

Prints one line of JSON: of each lock its name, who holds it by its own client (is_acquired, owned), and who waits, in
the order of the client's contenders(). The scene stays until the input ends.
"""
import json
import os
import random
import sys
import threading
import time

import redis
from kazoo.client import KazooClient

hosts, redis_at, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(seed)
root = "/scene%d" % seed
clients = []


def until(condition):
    limit = time.monotonic() + 30
    while not condition():
        if time.monotonic() > limit:
            sys.exit("seed %d does not settle" % seed)
        time.sleep(0.02)


def kazoo_contender(kind, path, name, permits):
    client = KazooClient(hosts=hosts, timeout=30)
    client.start(timeout=30)
    clients.append(client)
    if kind == "semaphore":
        return client.Semaphore(path, identifier=name, max_leases=permits)
    return {"lock": client.Lock, "read": client.ReadLock, "write": client.WriteLock}[kind](path, identifier=name)


def queue_up(contender, path, behind):
    """It is queued when its own node is there, so that the order is the scene's."""
    before = nodes(path)
    threading.Thread(target=contender.acquire, daemon=True).start()
    until(lambda: contender.is_acquired if behind == 0 else contender.is_acquired or nodes(path) > before)


def nodes(path):
    """Of a semaphore also those of its guard."""
    return sum(len(clients[0].get_children(at)) for at in (path, path + "-__lock__") if clients[0].exists(at))


def zookeeper_lock(number):
    path = "%s/%d" % (root, number)
    form = chance.choice(["lock", "shared", "semaphore"])
    permits = chance.randint(1, 3)
    all_of_it = []
    for i in range(chance.randint(1, 5)):
        kind = chance.choice(["read", "write"]) if form == "shared" else form
        contender = kazoo_contender(kind, path, "c%d-%d" % (number, i), permits)
        queue_up(contender, path, i)
        all_of_it.append(("c%d-%d" % (number, i), contender))
    for name, contender in list(all_of_it):
        if contender.is_acquired and chance.random() < 0.4:
            contender.release()
            all_of_it.remove((name, contender))
            waiting = [one for _, one in all_of_it if not one.is_acquired]
            time.sleep(1 if waiting else 0.1)  # the next client is notified
    held = [name for name, contender in all_of_it if contender.is_acquired]
    if form == "semaphore":
        waits = [name for name, contender in all_of_it if not contender.is_acquired]
    else:
        in_order = all_of_it[0][1].contenders() if all_of_it else []
        waits = [name for name in in_order if name not in held]
    return {"lock": "zk:" + path, "holders": sorted(held), "waiters": waits}


def redis_lock(number):
    server = redis.Redis.from_url("redis://" + redis_at)
    name = "scene%d-lock-%d" % (seed, number)
    locks = [server.lock(name, timeout=300) for _ in range(chance.randint(1, 3))]
    for one in locks:
        one.acquire(blocking=False)
    if chance.random() < 0.4:
        locks[0].release()
    held = [one.local.token.decode() for one in locks if one.local.token and one.owned()]
    return {"lock": "redis:" + name, "holders": held, "waiters": []}


clients.append(KazooClient(hosts=hosts, timeout=30))
clients[0].start(timeout=30)
scene = [zookeeper_lock(i) for i in range(chance.randint(2, 5))] + [redis_lock(i) for i in range(chance.randint(1, 3))]
print("scene " + json.dumps(scene), flush=True)
sys.stdin.read()
os._exit(0)  # the threads that wait would complain of a closed session
