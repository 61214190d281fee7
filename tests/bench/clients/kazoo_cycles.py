# SPDX-License-Identifier: Apache-2.0
"""How many times a second one contender of kazoo's lock gets in and out.

  kazoo_cycles.py HOST:PORT PATH

For each line "run MILLISECONDS" it takes and releases the lock for so long and answers "did COUNT NANOSECONDS".
Answers "ready" first; the end of the input ends the program.
"""
import sys
import time

from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1], timeout=30)
client.start(timeout=30)
lock = client.Lock(sys.argv[2])
print("ready", flush=True)
for line in sys.stdin:
    began = time.monotonic_ns()
    end = began + int(line.split()[1]) * 1_000_000
    cycles = 0
    while time.monotonic_ns() < end:
        lock.acquire()
        cycles += 1
        lock.release()
    print("did", cycles, time.monotonic_ns() - began, flush=True)
client.stop()
