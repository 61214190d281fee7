#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file of the repository is as clang-format writes it: .clang-format is the style, this holds it.

Versions differ in what they write, so one is asked: 14, Debian 12's. Without it the test is skipped and says so.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = 14
WIDTH = 118
SKIPPED = 77


def formatter():
    """The clang-format of that version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        found = re.search(r"version (\d+)\.", said)
        if found and int(found[1]) == VERSION:
            return path
    return None


def sources(root):
    """What is in the folders of code. Git is not asked: a minimal system has none."""
    folders = ("app", "core", "ui", "tests")
    return [file for folder in folders for pattern in ("*.cpp", "*.h") for file in sorted(Path(root, folder).rglob(pattern))]


def main():
    root = sys.argv[1]
    command = formatter()
    if command is None:
        print(f"SKIP: no clang-format {VERSION} here (apt-get install clang-format, on Debian 12)")
        return SKIPPED
    files = sources(root)
    said = subprocess.run([command, "--dry-run", "--Werror", *map(str, files)], capture_output=True, text=True)
    places = sorted(set(re.findall(r"^(\S+:\d+):\d+: ", said.stderr, re.MULTILINE)))
    # Comments are not wrapped by it: how a sentence is broken is its writer's.
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > WIDTH and line.lstrip().startswith("//"):
                places.append(f"{file}:{number} (a comment of {len(line)} columns)")
    for place in places[:40]:
        print(place)
    if places:
        print(f"{len(places)} places are not as .clang-format says; clang-format-{VERSION} -i FILE mends it")
        return 1
    print(f"{len(files)} files are formatted")
    return 1 if said.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
