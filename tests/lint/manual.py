#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual pages and the shell completion name every command, option and page the programs have, and no others; they,
and README, name every kind of server that the programs know.

Usage: manual.py INSTALLER-FOLDER PROGRAM…
"""

import os
import re
import subprocess
import sys

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def help_of(program, *words):
    asked = [] if "help" in words else ["--help"]
    result = subprocess.run([program, *words, *asked], capture_output=True, text=True, timeout=30, check=True,
                            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    return result.stdout


def offered(program):
    """(options, commands) that the program's own help tells of: words at the start of an indented line."""
    text = help_of(program)
    commands = re.findall(r"^(?:[A-Z][A-Za-z ]{7}| {8})([a-z][a-z-]+) +\S", text, re.M) if " COMMAND " in text else []
    texts = [text] + [help_of(program, command) for command in commands]
    texts += [help_of(program, "help", "options")] if commands else []
    options = {name for each in texts for name in re.findall(r"^ +--([a-z][a-z-]*)", each, re.M)}
    return options, set(commands)


def faults_of_pages(program, manual):
    """What the manual says of --page, against the list that the program gives when there is no such page."""
    refused = subprocess.run([program, "--page", "?"], capture_output=True, text=True, timeout=30, check=False)
    pages = re.findall(r"[a-z]+", refused.stderr.rpartition("pages: ")[2])
    told = re.search(r"--page.*\n.*\n(.*)", manual)
    listed = [word for word in re.findall(r"\b[a-z]+\b", told.group(1)) if word != "or"] if told else []
    return [] if pages and pages == listed else [f"the manual lists the pages {listed}, the program has {pages}"]


def servers(program):
    """(titles, URIs) of the kinds of servers that the program's help tells of."""
    text = help_of(program)
    text += help_of(program, "help", "connections") if " COMMAND " in text else ""
    titles = re.search(r": the locks of (.*), seen as locks", text)
    return re.split(r", | and | or ", titles.group(1)) if titles else [], set(re.findall(r"\b[a-z]+://", text))


def main(folder, programs):
    faults = []
    with open(os.path.join(folder, "..", "README.md"), encoding="utf-8") as file:
        readme = file.read()
    for program in programs:
        name = os.path.basename(program)
        options, commands = offered(program)
        titles, uris = servers(program)
        if not titles:
            faults.append(f"{name} --help tells of no servers: is it a help text at all?")
        faults += [f"README lacks {title}" for title in titles if title not in readme]
        if "help" not in options:
            faults.append(f"{name} --help tells of no option --help: is it a help text at all?")
        for kind, path in [("manual", f"man/{name}.1.in"), ("completion", f"completion/{name}")]:
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                text = file.read().replace("\\-", "-")
            if kind == "manual":
                faults += faults_of_pages(program, text) if "page" in options else []
                faults += [f"{path} lacks {word}" for word in [*titles, *sorted(uris if commands else [])] if word not in text]
            faults += [f"{path} lacks --{option}" for option in sorted(options) if f"--{option}" not in text]
            faults += [f"{path} lacks the command {command}" for command in sorted(commands)
                       if not re.search(rf"\b{command}\b", text)]
            faults += [f"{path} has --{option}, which {name} does not know"
                       for option in sorted(set(_OPTION.findall(text)) - options)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
