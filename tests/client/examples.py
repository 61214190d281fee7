#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the C++ library, builds tests/examples against it as another project does, and runs each example next to
the foreign client of its kind: each must exclude the other, and let it in after its release.

    examples.py BUILD SOURCE LOCKSCOPECTL

What LOCKSCOPE_INTEROP_REDISSON (a folder of jars) or a Python module redlock would be needed for is skipped without
it, and that is printed.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 60
WORK_MS = 4000


class Process:
    """A client with a console: what it prints is read all the time."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1, **more)
        self.text = ""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.text += line

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def prints(self, pattern, times=1):
        end = time.monotonic() + PATIENCE
        while len(re.findall(pattern, self.text, re.M)) < times:
            if time.monotonic() > end or (self.process.poll() is not None and not self.reader.is_alive()):
                sys.exit(f"{self.process.args}: no {pattern!r} in\n{self.text}")
            time.sleep(0.02)

    def end(self):
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"{self.process.args} does not end:\n{self.text}")


class Foreign:
    """A client that is told what to do, one line for each; `held` is what it prints when it holds."""

    def __init__(self, command, take, give, held, ready=None, **more):
        self.console = Process(command, **more)
        self.take, self.give, self.held, self.count = take, give, held, 0
        if ready:
            self.console.prints(ready)

    def ask(self):
        self.count += 1
        self.console.send(self.take)

    def wait(self):
        self.console.prints(self.held, self.count)

    def has(self):
        return len(re.findall(self.held, self.console.text, re.M)) >= self.count

    def release(self):
        self.console.send(self.give)

    def end(self):
        self.console.end()


class EtcdCtl:
    """etcdctl lock: one process for each hold."""

    def __init__(self, endpoint, lock):
        self.command = ["etcdctl", f"--endpoints={endpoint}", "lock", lock]
        self.lock = lock

    def ask(self):
        self.console = Process(self.command, env={**os.environ, "ETCDCTL_API": "3"})

    def wait(self):
        self.console.prints("^" + re.escape(self.lock) + "/")

    def has(self):
        return bool(re.search("^" + re.escape(self.lock) + "/", self.console.text, re.M))

    def release(self):
        self.console.process.send_signal(signal.SIGINT)
        self.console.process.wait(PATIENCE)

    def end(self):
        pass


REDLOCK = """
import sys, redlock
servers = [dict(host=h.rsplit(":", 1)[0], port=int(h.rsplit(":", 1)[1])) for h in sys.argv[1:]]
manager = redlock.Redlock(servers, retry_count=600, retry_delay=0.1)
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "take":
        held = manager.lock("orders:42", 60000)
        print("held" if held else "missed", flush=True)
    else:
        manager.unlock(held)
"""


def java(folder_or_jars, source, *arguments):
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", folder_or_jars, str(source), *arguments]


def foreign_clients(source, uris):
    """The example's name, its URI and its foreign client, or why there is none."""
    place = {name: uri.split("://")[1].split("@")[-1].split("?")[0] for name, uri in uris.items()}
    clients = source / "tests/interop/clients"
    curator = ":".join(f"/usr/share/java/{jar}.jar" for jar in (
        "curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute", "slf4j-api",
        "slf4j-nop", "guava", "failureaccess"))
    yield "curator", uris["zk"], Foreign(java(curator, clients / "CuratorClient.java", place["zk"]),
                                         "acquire a mutex /orders/42", "release a", "^held a", "^ready")
    redis = [place[name] for name in sorted(place) if name.startswith("redis")]
    try:
        import redlock  # noqa: F401
        yield "redlock", "redis://" + ",".join(redis), Foreign([sys.executable, "-c", REDLOCK, *redis], "take", "give",
                                                               "^held", "^ready")
    except ImportError:
        yield "redlock", None, "there is no Python module redlock"
    jars = os.environ.get("LOCKSCOPE_INTEROP_REDISSON")
    if jars:
        host, port = redis[0].rsplit(":", 1)
        yield "redisson-fair", "redis://" + redis[0], Foreign(
            java(jars + "/*", clients / "RedissonContenders.java", host, port), "acquire a fair orders:42", "release a",
            "^held a", "^ready")
    else:
        yield "redisson-fair", None, "LOCKSCOPE_INTEROP_REDISSON is not set"
    host, port = place["mariadb"].rsplit(":", 1)
    yield "row", uris["mariadb"] + "/shop", Foreign(
        ["mariadb", "-n", "-N", "-B", "-h", host, "-P", port, "-u", "root", "shop"],
        "BEGIN; SELECT id FROM stock WHERE id = 1 FOR UPDATE; SELECT 'held';", "COMMIT;", "^held")
    yield "etcd", uris["etcd"], EtcdCtl("http://" + place["etcd"], "orders/42")
    host, port = place["postgresql"].rsplit(":", 1)
    yield "advisory", uris["postgresql"] + "/shop", Foreign(
        ["psql", "-X", "-q", "-A", "-t", "-h", host, "-p", port, "-U", "shop", "shop"],
        "SELECT 'held' FROM pg_advisory_lock(42);", "SELECT pg_advisory_unlock(42);", "^held")


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}")


def build(build_folder, source, work):
    """The folders of the examples, as found by CMake and by pkg-config."""
    prefix = work / "prefix"
    run(["cmake", "--install", build_folder, "--component", "library", "--prefix", prefix])
    # Elsewhere than it was installed to: what is found may not depend on that.
    moved = prefix.rename(work / "moved")
    pkgconfig = str(next(moved.rglob("pkgconfig")))
    for name, options in (("cmake", [f"-DCMAKE_PREFIX_PATH={moved}"]), ("pkgconfig", ["-DUSE_PKG_CONFIG=ON"])):
        run(["cmake", "-S", source / "tests/examples", "-B", work / name, *options,
             "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror -fno-exceptions"],
            env={**os.environ, "PKG_CONFIG_PATH": pkgconfig})
        run(["cmake", "--build", work / name, *(["--target", "curator"] if name == "pkgconfig" else [])])
    return work / "cmake"


def check_links(program):
    libraries = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    for unwanted in ("Qt6Sql", "Qt6Gui", "Qt6Widgets", "hiredis", "not found"):
        if unwanted in libraries:
            sys.exit(f"{program.name} links {unwanted}:\n{libraries}")
    sizes = [(path, os.stat(path).st_size) for path in re.findall(r"=> (\S*lockscope\S*)", libraries)]
    print(f"{program.name}: " + ", ".join(f"{pathlib.Path(path).name} {size // 1024} KiB" for path, size in sizes))


def check_exclusion(program, uri, foreign):
    foreign.ask()
    foreign.wait()
    refused = subprocess.run([program, "500", "0", uri], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if refused.returncode != 3:
        sys.exit(f"{program.name} is not excluded: {refused.returncode}\n{refused.stdout}")
    ours = Process([program, "30000", str(WORK_MS), uri])
    foreign.release()
    ours.prints("^held")
    until = time.monotonic() + WORK_MS / 2000  # it held before that was printed, and holds for twice as long
    foreign.ask()
    while time.monotonic() < until:
        if foreign.has():
            sys.exit(f"{program.name} does not exclude its foreign client")
        time.sleep(0.02)
    if ours.end():
        sys.exit(f"{program.name}: {ours.process.returncode}\n{ours.text}")
    foreign.wait()
    foreign.release()
    foreign.end()


def main():
    build_folder, source, ctl = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="lockscope-examples-") as folder:
        programs = build(build_folder, source, pathlib.Path(folder))
        check_links(programs / "curator")
        sandbox = Process([ctl, "sandbox", "--zk", "--redis", "3", "--mariadb", "--etcd", "--postgresql"])
        try:
            sandbox.prints(r"^\S+=postgresql://")
            uris = dict(line.split("=", 1) for line in sandbox.text.splitlines() if re.match(r"^\w+=\w+://", line))
            skipped = 0
            for name, uri, foreign in foreign_clients(source, uris):
                if not uri:
                    print(f"{name}: built, not run: {foreign}")
                    skipped += 1
                    continue
                check_exclusion(programs / name, uri, foreign)
                print(f"{name}: excludes its foreign client, and is excluded by it")
        finally:
            sandbox.process.send_signal(signal.SIGINT)
            sandbox.process.wait(PATIENCE)


if __name__ == "__main__":
    main()
