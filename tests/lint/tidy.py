#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the product's sources, by the checks of .clang-tidy: tidy.py ROOT BUILD [PART-OF-A-NAME]

Configures BUILD without a precompiled header (clang reads none of GCC's) and with units that are whole folders, so
that what all files include is read once a folder. Ends with "tidy: nothing found", or with status 1 and the places.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIDY = "clang-tidy-16"
SETTINGS = (
    "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_UNITY_BUILD=ON", "-DLOCKSCOPE_UNITY_FILES=200", "-DLOCKSCOPE_TESTS=OFF",
    "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr)
        sys.exit(f"tidy: {command[0]} failed")
    return done.stdout


def units(root, build):
    """The units to read, after what moc writes for them has been written."""
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", *SETTINGS)
    targets = run("ninja", "-C", build, "-t", "targets", "all")
    run("ninja", "-C", build, *sorted(set(re.findall(r"^([\w.-]+_autogen): phony", targets, re.MULTILINE))))
    listed = json.loads(Path(build, "compile_commands.json").read_text(encoding="utf-8"))
    return [entry["file"] for entry in listed if "_autogen/" not in entry["file"]]


def findings(build, unit):
    """Each finding's lines, as clang-tidy prints them. The compiler's own warnings are GCC's business."""
    said = subprocess.run([TIDY, "-p", build, "--quiet", "--extra-arg=-Wno-everything", unit],
                          capture_output=True, text=True)
    if said.returncode and "warnings-as-errors]" not in said.stdout:
        return {f"{unit}: {TIDY} ended with {said.returncode}\n{said.stdout}{said.stderr[-2000:]}"}
    return set(re.findall(r"^/\S+:\d+:\d+: error: .*$", said.stdout, re.MULTILINE))


def main():
    root, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if shutil.which(TIDY) is None:
        print(f"SKIP: no {TIDY} here (apt-get install {TIDY}, on Debian 12)")
        return
    chosen = [unit for unit in units(root, build) if len(sys.argv) < 4 or sys.argv[3] in unit]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = set().union(*pool.map(lambda unit: findings(build, unit), chosen))
    for finding in sorted(found):
        print(finding.replace(root + "/", ""))
    if found:
        sys.exit(f"tidy: {len(found)} findings in {len(chosen)} units")
    print(f"tidy: nothing found in {len(chosen)} units")


if __name__ == "__main__":
    main()
