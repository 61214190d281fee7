#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commit hook accepts and refuses what CONTRIBUTING.md describes.

Usage: commitmsg.py HOOK
"""

import subprocess
import sys
import tempfile

ACCEPTED = (
    "ui: disable lock actions without a selection",
    "core/inspect: read “ключ” as UTF-8",
    "ui: x" + "é" * 67,  # 72 characters, more bytes
    "# a comment of the editor\n\ntests: wait for the event\n\nThe body. It may have; all of that.",
    "Merge branch 'main' into chart",
    'Revert "ui: add a chart"',
    "fixup! Whatever it was.",
)
REFUSED = (
    "",
    "# only comments\n",
    "disable lock actions",
    "UI: disable lock actions",
    "ui:disable lock actions",
    "ui: Disable lock actions",
    "ui: disable lock actions.",
    "ui: disable lock actions; add a test",
    "ui: " + "x" * 69,  # 73 characters
)


def is_accepted(hook, message):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(message)
        file.flush()
        return subprocess.run([hook, file.name], capture_output=True, check=False).returncode == 0


def main(hook):
    wrong = [f"refused: {message!r}" for message in ACCEPTED if not is_accepted(hook, message)]
    wrong += [f"accepted: {message!r}" for message in REFUSED if is_accepted(hook, message)]
    print("\n".join(wrong) or f"{len(ACCEPTED) + len(REFUSED)} messages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
