#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether each file reaches what it names: redis::Connection needs an include, its own or one further down, of a file
that has namespace redis and that word; 5ms and u"a"_s need somebody who uses the namespace of such literals. Rooms are compiled as one unit, where a neighbour's include hides what is
missing, until somebody compiles the file by itself (the preset dev).

Usage: reach.py FOLDER
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cpptext

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_PUBLIC = re.compile(r"^#include <(lockscope/\w+\.h)>", re.M)  # of the C++ library
_NAMESPACE = re.compile(r"\bnamespace ((?:\w+::(?:inline )?)*\w+)\s*\{")
_USING = re.compile(r"\busing namespace ([\w:]+);")
_LITERALS = {
    "chrono_literals": re.compile(r"(?<![\w.'])\d[\d']*(?:ns|us|ms|s|min|h)\b"),
    "StringLiterals": re.compile(r'"_(?:s|L1|ba)\b'),
}
_NAMED = re.compile(r"(?<![\w:.>])(?:lockscope::)?(\w+)::(\w+)")


class Source:
    def __init__(self, path, text):
        code = cpptext.code_only(text)
        self.path = path
        self.includes = _INCLUDE.findall(text) + ["core/client/include/" + name for name in _PUBLIC.findall(text)]
        self.namespaces = {part for name in _NAMESPACE.findall(code) for part in re.split("::(?:inline )?", name)}
        if "LOCKSCOPE_BEGIN_API" in code:
            self.namespaces |= {"lockscope", "v0"}
        self.words = set(re.findall(r"\w+", code))
        self.uses = {part for name in _USING.findall(code) for part in name.split("::")}
        # In no namespace: whoever includes this file uses them as well.
        self.passed_on = {part for match in _USING.finditer(code) for part in match[1].split("::")
                          if code.count("{", 0, match.start()) == code.count("}", 0, match.start())}
        # Directly in namespace lockscope: files that include this one and are in that namespace use them as well.
        self.shared = {part for match in _USING.finditer(code) for part in match[1].split("::")
                       if re.search(r"\bnamespace lockscope \{[^{}]*$", code[:match.start()])}
        self.literals = {}
        for space, form in _LITERALS.items():
            if match := form.search(code):
                self.literals[space] = code.count("\n", 0, match.start()) + 1
        self.named = {}
        for match in _NAMED.finditer(code):
            self.named.setdefault(match.groups(), code.count("\n", 0, match.start()) + 1)


class Tree:
    def __init__(self, sources):
        self._sources = sources
        self._reached = {}
        self._namespaces = set().union(*(one.namespaces for one in sources.values())) if sources else set()
        self._namespaces.discard("lockscope")

    def _target(self, source, include):
        beside = os.path.normpath(os.path.join(os.path.dirname(source.path), include))
        return self._sources.get(include) or self._sources.get(beside)

    def _reach(self, source):
        """All files that it includes, and itself."""
        if source.path not in self._reached:
            seen, open_ones = {source.path: source}, [source]
            while open_ones:
                one = open_ones.pop()
                for include in one.includes:
                    target = self._target(one, include)
                    if target and target.path not in seen:
                        seen[target.path] = target
                        open_ones.append(target)
            self._reached[source.path] = list(seen.values())
        return self._reached[source.path]

    def findings(self):
        for path in sorted(self._sources):
            source = self._sources[path]
            for space, line in source.literals.items():
                inside = (source.namespaces | source.uses) - {"lockscope"}
                in_project = "lockscope" in source.namespaces | source.uses
                if not any(space in one.uses and (one is source or one.namespaces & inside) or
                           space in one.passed_on or in_project and space in one.shared
                           for one in self._reach(source)):
                    yield path, line, f"a literal of {space}, which no file that this one includes uses"
            for (space, word), line in source.named.items():
                if space not in self._namespaces:
                    continue
                if not any(space in one.namespaces and word in one.words for one in self._reach(source) if
                           one is not source or space in source.namespaces):
                    yield path, line, f"{space}::{word} is in no file that this one includes"


def sources_below(root):
    sources = {}
    for room in ("core", "ui", "app", "tests"):
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in names:
                if not name.endswith((".h", ".cpp")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                    sources[path] = Source(path, file.read())
    return sources


def main(root):
    sources = sources_below(root)
    found = list(Tree(sources).findings())
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    print(f"{len(sources)} files, {len(found)} findings")
    return 1 if found or len(sources) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
