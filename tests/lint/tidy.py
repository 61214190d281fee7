#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the product's sources, by the checks of .clang-tidy: tidy.py ROOT BUILD [PART-OF-A-NAME]

Configures BUILD without a precompiled header (clang reads none of GCC's) and with units that are whole folders, and
reads several folders at once: what all files include costs more than most folders do. Ends with "tidy: nothing
found", or with status 1 and the places.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIDY = "clang-tidy-16"
CHECKS = Path(__file__).parents[2] / ".clang-tidy"  # of the sources, wherever BUILD is
SETTINGS = (
    "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_UNITY_BUILD=ON", "-DLOCKSCOPE_UNITY_FILES=200", "-DLOCKSCOPE_TESTS=OFF",
    "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
)
# Targets that are read as one. Where two of them use one name for two things clang says so, and each is read by itself.
TOGETHER = (
    ("base", "async", "transport", "zookeeper", "redis", "mariadb", "etcd", "postgresql", "rules"),
    tuple(f"{module}_{part}" for module in ("recipes", "client")
          for part in ("shared", "zookeeper", "redis", "mariadb", "etcd", "postgresql"))
    + ("simservers", "contention", "lessons", "rehearse"),
    ("inspect", "operate"),
    ("history", "sandbox", "connections", "workspace"),
    ("ui_theme", "ui_models", "ui_parts", "ui_views"),
    ("ui_dialogs", "ui_pages"),
    ("ui_graph", "ui_shell"),
    ("commandline", "ctl"),
)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr)
        sys.exit(f"tidy: {command[0]} failed")
    return done.stdout


def units(root, build):
    """What the compiler is told of each unit, after what moc writes for them has been written."""
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", *SETTINGS)
    targets = run("ninja", "-C", build, "-t", "targets", "all")
    run("ninja", "-C", build, *sorted(set(re.findall(r"^([\w.-]+_autogen): phony", targets, re.MULTILINE))))
    listed = json.loads(Path(build, "compile_commands.json").read_text(encoding="utf-8"))
    return [entry for entry in listed if "_autogen/" not in entry["file"]]


def target_of(unit):
    return re.sub(r"^lockscope_?", "", re.search(r"CMakeFiles/([\w-]+)\.dir/", unit["command"]).group(1))


def groups(chosen):
    """The units in lists of those that are read together."""
    groups = {}
    for unit in chosen:
        target = target_of(unit)
        together = next((names for names in TOGETHER if target in names), unit["file"])
        groups.setdefault(together, []).append(unit)
    return sorted(groups.values(), key=len, reverse=True)


def options_of(unit):
    """Where it finds headers, and what the language is; the compiler's other options are GCC's."""
    words = iter(shlex.split(unit["command"]))
    for word in words:
        if word.startswith(("-I", "-D", "-std=", "-fPIC", "-fno-exceptions")):
            yield (word,)
        elif word == "-isystem":
            yield (word, next(words))


def said_of(options, source):
    """What clang-tidy says; the compiler's own warnings are GCC's business."""
    said = subprocess.run([TIDY, f"--config-file={CHECKS}", "--quiet", source, "--", *options, "-Wno-everything"],
                          capture_output=True, text=True)
    if said.returncode and "-warnings-as-errors]" not in said.stdout and "clang-diagnostic-error" not in said.stdout:
        return f"{source}:1:1: error: {TIDY} ended with {said.returncode}: {said.stderr[-2000:]}\n"
    return said.stdout


def findings(build, group):
    """Each finding's line, as clang-tidy prints it, of units that are read together if they can be."""
    options = dict.fromkeys(option for unit in group for option in options_of(unit))
    together = Path(build, f"{target_of(group[0])}.together.cxx")
    together.write_text("".join(f'#include "{unit["file"]}"\n' for unit in group), encoding="utf-8")
    said = said_of([word for option in options for word in option], str(together))
    if "clang-diagnostic-error" in said and len(group) > 1:
        print(f"tidy: {', '.join(sorted({target_of(unit) for unit in group}))} cannot be read as one")
        return set().union(*(findings(build, [unit]) for unit in group))
    return set(re.findall(r"^/\S+:\d+:\d+: error: .*$", said, re.MULTILINE))


def main():
    root, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if shutil.which(TIDY) is None:
        print(f"SKIP: no {TIDY} here (apt-get install {TIDY}, on Debian 12)")
        return
    chosen = [unit for unit in units(root, build) if len(sys.argv) < 4 or sys.argv[3] in unit["file"]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = set().union(*pool.map(lambda group: findings(build, group), groups(chosen)))
    for finding in sorted(found):
        print(finding.replace(root + "/", ""))
    if found:
        sys.exit(f"tidy: {len(found)} findings in {len(chosen)} units")
    print(f"tidy: nothing found in {len(chosen)} units")


if __name__ == "__main__":
    main()
