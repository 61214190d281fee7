#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plain English in user strings, documents and test names. CONTRIBUTING.md, "Prose", explains the rules.

Usage: prose.py FOLDER                compares the counts per file and rule with prose-baseline.txt: none may rise or fall
       prose.py --update FOLDER       lowers the baseline to the present counts; refuses if a count has risen
       prose.py --regenerate FOLDER   writes the present counts, for example after a merge
"""

import collections
import os
import re
import sys

import lint
from cpptext import line_of

BASELINE = "tests/lint/prose-baseline.txt"
WORD_RULES = {
    "is-said": r"\b(?:is|are|was|were|be|been) (?:not |also |then )?(?:said|told)\b",
    "let-go": r"\b(?:lets?|letting) (?:\w+ )?go\b",
    "give-back": r"\b(?:giv\w+|gave) (?:\w+ )?back\b",
    "take-away": r"\b(?:tak\w+|took) (?:\w+ )?(?:away|back)\b",
    "anew": r"\banew\b|\bin vain\b",
    "look-again": r"\b(?:look again|the (?:first|last) look|looked at)\b",
    "is-no": r"\b(?:is|are) no (?!longer\b|more\b)[a-z]|\bis to be\b|\bwants (?:a|an|//|%\d)",
    "somebody": r"\b(?:somebody|nobody|everybody|anybody)\b",
    "is-gone": r"\bhangs? on\b|\b(?:is|are|was) gone\b|\bmend(?:s|ed)?\b|\ball the same\b",
    "simulated-world": r"\bsimulated world\b"}
# No baseline: the glossary bans these words outright.
BANNED = r"\bnot now\b|\bback to now\b|\bafresh\b|\bfarewells?\b|\bgrav(?:e|er|est)\b|\brooms? of (?:core|ui)\b"
_WORD_RULES = {name: re.compile(rule, re.I) for name, rule in WORD_RULES.items()}
_BANNED = re.compile(BANNED, re.I)
README_WORDS, SENTENCE_WORDS, CELL_WORDS, PARAGRAPH_WORDS, NAME_LENGTH = 700, 25, 60, 80, 45

_COMMENT_OR_LITERAL = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+\'''', re.S)
_LITERALS = re.compile(r'(?:u?"(?:[^"\\\n]|\\.)*"(?:_s)?\s*)+')
_TEST = re.compile(r"^    void (\w+)\(\)", re.M)
_RIDDLE = re.compile(r"^(?:[A-H]\d+_)?(?:what|who|where|whether|of[A-Z])")
_ESCAPE = "// prose: ok ("


def user_strings(text):
    """(line, string) of literals with several English words: adjacent ones are one string; comments, SQL and scripts are not."""
    def without(match):
        token = match.group(0)
        return token if token[0] == '"' else "\n" * token.count("\n")

    escaped = {number for number, line in enumerate(text.splitlines(), 1) if _ESCAPE in line}
    code = _COMMENT_OR_LITERAL.sub(without, text)
    for match in _LITERALS.finditer(code):
        string = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group(0)))
        first = line_of(code, match.start())
        lines = range(first, first + match.group(0).rstrip().count("\n") + 1)
        if re.search(r"[a-z]{3} [a-z]", string) and not re.search(r"\b(?:SELECT|FROM|UPDATE|INSERT)\b", string) \
                and not escaped.intersection(lines):
            yield first, string


def _word_faults(line, text):
    if _BANNED.search(text):
        yield "banned", line, text
    for name, rule in _WORD_RULES.items():
        if rule.search(text):
            yield name, line, text


def command_strings(text):
    """(line, string) of what resources/commands.json says to users."""
    for number, line in enumerate(text.splitlines(), 1):
        for field in re.finditer(r'"(?:summary|more|list|help)": "((?:[^"\\]|\\.)*)"', line):
            yield number, field.group(1)


def word_strings(text):
    """(line, string) of what a file of resources/words says to users: all that is no name and no remark."""
    for number, line in enumerate(text.splitlines(), 1):
        for field in re.finditer(r'(?:"(\w+)": )?"((?:[^"\\]|\\.)*)"(?!:)', line):
            if field.group(1) not in ("about", "name", "id", "commands") and re.search(r"[a-z]{3} [a-z]", field.group(2)) \
                    and not field.group(2).startswith(("BEGIN NOT ATOMIC ", "  ")):
                yield number, field.group(2)


def string_faults(text, strings=user_strings):
    for line, string in strings(text):
        yield from _word_faults(line, string)
        if any(len(sentence.split()) > SENTENCE_WORDS for sentence in re.split(r"(?<=[.!?])\s|\\n", string)):
            yield "long-sentence", line, string
        if re.search(r"^[ ;,.:]|[:;,(] ?$", string):
            yield "fragment", line, string


def paragraphs(text):
    """(line, text) of paragraphs and list items outside of tables, headings and code."""
    first, words = 0, []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        starts = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if words and (starts or not line.strip() or line[0] in "#|"):
            yield first, " ".join(words)
            words = []
        if not line.strip() or line[0] in "#|" or (line.startswith("    ") and not words and not starts):
            continue
        first = first if words else number
        words.append(line.strip())


def document_faults(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    "):
            continue
        yield from _word_faults(number, re.sub(r"`[^`]*`", "CODE", line))
        if line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                if len(cell.split()) > CELL_WORDS:
                    yield "long-cell", number, cell.strip()
    if path.endswith(".md"):
        for number, paragraph in paragraphs(text):
            if len(paragraph.split()) > PARAGRAPH_WORDS:
                yield "long-paragraph", number, paragraph


def readme_words(text):
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    return len(re.findall(r"\w[\w'’./-]*", re.sub(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)", "", prose)))


def test_faults(text):
    for match in _TEST.finditer(text):
        name = match.group(1)
        if name.endswith("_data"):
            continue
        if _RIDDLE.search(name):
            yield "test-name", line_of(text, match.start()), name
        if len(name) > NAME_LENGTH:
            yield "long-test-name", line_of(text, match.start()), name


def faults_of(path, text):
    """(rule, line, text) of everything in a file that breaks a rule."""
    if path.startswith(("app/", "core/", "ui/")) and path.endswith((".cpp", ".h")):
        return [] if path.startswith("core/simservers/") else [*string_faults(text)]
    if path == "resources/commands.json":
        return [*string_faults(text, command_strings)]
    if re.fullmatch(r"resources/(?:words/(?:operate|actions|edits|keys)|help|mcp|metrics)\.json", path):
        return [*string_faults(text, word_strings)]
    if path.endswith(".md") or path.startswith("installer/man/"):
        return [*document_faults(path, text)]
    if path.startswith("tests/") and os.path.basename(path).startswith("tst_") and path.endswith(".cpp"):
        return [*test_faults(text)]
    return []


def compare(faults, allowed):
    """What is wrong: faults {(path, rule): [(line, text)…]} against allowed {(path, rule): count}."""
    for (path, rule), places in sorted(faults.items()):
        most = 0 if rule == "banned" else allowed.get((path, rule), 0)
        if len(places) > most:
            yield f"{path}: {rule}: {len(places)}" + (f", at most {most}" if most else ", not one is allowed")
            yield from (f"  {path}:{line}: {text[:150]}" for line, text in places)
    for (path, rule), most in sorted(allowed.items()):
        if len(faults.get((path, rule), [])) < most:
            yield f"{path}: {rule}: {len(faults.get((path, rule), []))}, {most} in the baseline: run prose.py --update"


def read_baseline(root):
    try:
        with open(os.path.join(root, BASELINE), encoding="utf-8") as file:
            rows = [line.split() for line in file if line.strip() and line[0] != "#"]
    except OSError:
        rows = []
    return {(path, rule): int(count) for path, rule, count in rows}


def write_baseline(root, counts):
    with open(os.path.join(root, BASELINE), "w", encoding="utf-8") as file:
        file.write(f"# {lint.LICENCE}\n# Counts that may only fall. Written by tests/lint/prose.py --update.\n")
        file.write("" if counts else "# Nothing breaks a rule. prose.py --regenerate lists what a merge brought.\n")
        file.writelines(f"{path} {rule} {count}\n" for (path, rule), count in sorted(counts.items()))


def totals(faults):
    strings, documents = set(), set()
    for (path, rule), places in faults.items():
        if rule in WORD_RULES or rule == "banned":
            (documents if path.endswith(".md") or path.startswith("installer/") else strings).update((path, line) for line, _ in places)
    return len(strings), len(documents)


def main(root, mode=""):
    faults, readme, files = collections.defaultdict(list), 0, 0
    for path in lint.source_files(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        files += 1
        readme = readme_words(text) if path == "README.md" else readme
        for rule, line, what in faults_of(path, text):
            faults[path, rule].append((line, what))
    counts = {key: len(places) for key, places in faults.items() if key[1] != "banned"}
    allowed = read_baseline(root)
    if mode == "--regenerate":
        write_baseline(root, counts)
    elif mode == "--update":
        write_baseline(root, {key: min(most, counts[key]) for key, most in allowed.items() if counts.get(key)})
    wrong = [*compare(faults, read_baseline(root))]
    if readme > README_WORDS:
        wrong.append(f"README.md: {readme} words, at most {README_WORDS}")
    print("\n".join(wrong)) if wrong else None
    strings, documents = totals(faults)
    print(f"{files} files: {strings} strings and {documents} lines of documents match a word rule; README has {readme} words")
    # Nothing read would be no good news.
    return 1 if wrong or files < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1], sys.argv[1] if len(sys.argv) > 2 else ""))
