#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The completions for zsh and fish offer every command and option that the programs' help names, in the shells
themselves. Without one of the shells its part is skipped, and so is the test without both (status 77).

Usage: completion.py INSTALLER-FOLDER FOLDER-OF-LOCKSCOPE FOLDER-OF-LOCKSCOPECTL
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

_OPTION = re.compile(r"^  (--[a-z][a-z-]*)", re.M)
_COMMAND = re.compile(r"^(?:[A-Z][A-Za-z ]{7}| {8})([a-z][a-z-]+) +\S", re.M)


def output(command, environment):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    if result.returncode or result.stderr:
        raise SystemExit(f"{command}: status {result.returncode}: {result.stderr}")
    return result.stdout


def zsh(folder, line, environment):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "completion.zsh")
    return set(output(["zsh", "-f", script, os.path.join(folder, "completion"), *line], environment).splitlines())


def fish(folder, line, environment):
    files = [os.path.join(folder, "completion", f"{program}.fish") for program in ("lockscope", "lockscopectl")]
    code = f"source {files[0]}; source {files[1]}; complete -C '{' '.join(line)}'"
    lines = output(["fish", "--no-config", "-c", code], environment).splitlines()
    return {each.partition("\t")[0] for each in lines}


def lines_to_try(environment):
    """(words before the cursor, what has to be offered there and nothing else)."""
    help_text = output(["lockscopectl", "--help"], environment)
    commands = set(_COMMAND.findall(help_text))
    shared = set(_OPTION.findall(output(["lockscopectl", "help", "options"], environment)))
    window = set(_OPTION.findall(output(["lockscope", "--help"], environment)))
    if not commands or not shared or not window:
        raise SystemExit("the help names no commands or options: is it a help text at all?")
    yield ["lockscopectl", ""], commands | {"help"}
    yield ["lockscopectl", "--json", ""], commands | {"help"}
    yield ["lockscopectl", "--"], shared
    for command in sorted(commands):
        own = set(_OPTION.findall(output(["lockscopectl", command, "--help"], environment)))
        yield ["lockscopectl", command, "--"], shared | own
    yield ["lockscopectl", "--color", ""], {"auto", "always", "never"}
    yield ["lockscopectl", "--color", "auto", "findings", "--severity", ""], {"info", "warning", "critical"}
    yield ["lockscope", "--"], window
    yield ["lockscope", "--theme", ""], {"auto", "light", "dark"}


def main(folder, *programs):
    shells = {shell: ask for shell, ask in (("zsh", zsh), ("fish", fish)) if shutil.which(shell)}
    for shell in {"zsh", "fish"} - set(shells):
        print(f"SKIP: {shell} is not installed")
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PATH": os.pathsep.join([*programs, os.environ["PATH"]]), "HOME": home,
                       "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
        faults = []
        for line, expected in lines_to_try(environment) if shells else ():
            for shell, ask in shells.items():
                offered = ask(folder, line, environment)
                faults += [f"{shell}: after \"{' '.join(line)}\" {word} is not offered" for word in sorted(expected - offered)]
                faults += [f"{shell}: after \"{' '.join(line)}\" {word} is offered" for word in sorted(offered - expected)]
    for fault in faults:
        print(fault)
    if not shells:
        return 77
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
