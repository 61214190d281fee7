#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every word of the pages Simulator and Lessons is in resources/words in each language, with its placeholders, and
nothing else is.

Usage: words.py FOLDER            looks; 77 where there is no lupdate (Debian: qt6-l10n-tools)
       words.py --update FOLDER   lets lupdate bring the files up to date; what is new is left to be translated
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SOURCES = ("ui/simulator", "ui/lessons", "ui/pages/simulatorpage.h", "ui/pages/simulatorpage.cpp",
           "ui/presentation.cpp", "ui/pages/lessonspage.h", "ui/pages/lessonspage.cpp", "core/contention/scenario.cpp",
           "core/contention/explain.cpp", "core/contention/mutants")
# Words in data, too: files, the list in them, a field of its entries, the context.
DATA = (("resources/recipes/*.json", "recipes", "title", "Recipe"),
        ("resources/faults.json", "faults", "name", "FaultName"),
        ("resources/faults.json", "faults", "title", "Simulator"),
        ("resources/faults.json", "faults", "summary", "FaultKind"),
        ("resources/faults.json", "faults", "befell", "Told"),
        ("resources/faults.json", "faults", "befellServer", "Told"))
WORDS = "resources/words"
FORMS = {"ru": 3, "zh_CN": 1}  # of what is counted (%n)
PLACEHOLDER = re.compile(r"%(?:L?\d+|n)")


def lupdate():
    for name in ("lupdate-qt6", "lupdate6", "/usr/lib/qt6/bin/lupdate", "lupdate"):
        if shutil.which(name):
            return shutil.which(name)
    return None


def words_in_data(folder):
    for files, entries, field, context in DATA:
        for path in sorted(glob.glob(os.path.join(folder, files))):
            with open(path, encoding="utf-8") as file:
                for entry in json.load(file)[entries]:
                    if field in entry:
                        yield f'QT_TRANSLATE_NOOP("{context}", {json.dumps(entry[field])});\n'


def update(folder, files):
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, "data.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(words_in_data(folder))
        command = [lupdate(), "-silent", "-I", ".", "-locations", "none", "-no-obsolete", *SOURCES, source, "-ts",
                   *files]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"lupdate failed: {done.stderr}")


def messages_of(path):
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            yield (context.findtext("name"), message.findtext("source")), message


def wrong_with(source, message, forms):
    translation = message.find("translation")
    if message.get("numerus") == "yes":
        said = [form.text or "" for form in translation.iter("numerusform")]
        if len(said) != forms:
            yield f"has {len(said)} forms, not {forms}"
    else:
        said = [translation.text or ""]
    if translation.get("type") or not all(said):
        yield "is not translated"
        return
    for form in said:
        if sorted(PLACEHOLDER.findall(form)) != sorted(PLACEHOLDER.findall(source)):
            yield f"has other placeholders: {form}"


def findings_of(folder, name, work):
    fresh = shutil.copy(os.path.join(folder, WORDS, name), work)
    update(folder, [fresh])
    kept = dict(messages_of(os.path.join(folder, WORDS, name)))
    needed = dict(messages_of(fresh))
    forms = next(count for language, count in FORMS.items() if name.endswith(language + ".ts"))
    for (context, source), message in needed.items():
        reasons = wrong_with(source, message, forms) if (context, source) in kept else ["is not in it"]
        yield from (f"{name}: {context}: {source!r} {reason}" for reason in reasons)
    for context, source in kept.keys() - needed.keys():
        yield f"{name}: {context}: {source!r} is said nowhere"


def main():
    folder = [argument for argument in sys.argv[1:] if not argument.startswith("--")][0]
    if not lupdate():
        print("SKIP: there is no lupdate here (Debian: qt6-l10n-tools)")
        return 77
    names = [f"lockscope_{language}.ts" for language in FORMS]
    if "--update" in sys.argv[1:]:
        update(folder, [os.path.join(WORDS, name) for name in names])
        return 0
    with tempfile.TemporaryDirectory() as work:
        findings = [finding for name in names for finding in findings_of(folder, name, work)]
    print("\n".join(findings) if findings else "words: nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
