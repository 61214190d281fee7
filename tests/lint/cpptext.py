# SPDX-License-Identifier: Apache-2.0
"""C++ source as far as the lint needs to understand it: without comments and literals, in statements."""

import re

_TOKEN = re.compile(
    r'''//[^\n]*|/\*.*?\*/                            # comments
      |R"(?P<raw>[^()\s\\]{0,16})\(.*?\)(?P=raw)"     # raw strings
      |"(?:\\.|[^"\\\n])*"                            # strings
      |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'            # characters, but not digit separators
    ''',
    re.S | re.X)


def _blank(match):
    text = match.group(0)
    lines = "\n" * text.count("\n")
    if text.startswith("/"):
        return " " + lines
    return '""' + lines


def code_only(text):
    """Comments become blanks and literals empty strings; line numbers stay."""
    return _TOKEN.sub(_blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def closing(text, position):
    """The position of the bracket that closes the one at `position`, or the end of the text."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth = 0
    opening, end = text[position], pairs[text[position]]
    for index in range(position, len(text)):
        if text[index] == opening:
            depth += 1
        elif text[index] == end:
            depth -= 1
            if depth == 0:
                return index
    return len(text)


def _end_of_statement(code, index):
    """The position behind the statement that begins there: a block, a plain one, or what a condition governs."""
    index += len(code[index:]) - len(code[index:].lstrip())
    if code[index:index + 1] == "{":
        return closing(code, index) + 1
    control = re.match(r"(?:if(?: constexpr)?|while|for|switch)\s*\(", code[index:])
    if control:
        return _end_of_branches(code, closing(code, index + control.end() - 1) + 1)
    depth = 0
    while index < len(code):
        depth += (code[index] in "({[") - (code[index] in ")}]")
        index += 1
        if code[index - 1] == ";" and depth == 0:
            break
    return index


def _end_of_branches(code, index):
    index = _end_of_statement(code, index)
    while match := re.match(r"\s*else\b", code[index:]):
        index = _end_of_statement(code, index + match.end())
    return index


def ifs_with_initialiser(code):
    """(position, what stands in its branches) of every `if (…; …)`."""
    for match in re.finditer(r"\bif(?: constexpr)?\s*\(", code):
        end = closing(code, match.end() - 1)
        depth = 0
        for char in code[match.end():end]:
            depth += (char in "({[") - (char in ")}]")
            if char == ";" and depth == 0:
                yield match.start(), code[end + 1:_end_of_branches(code, end + 1)]
                break


def statements(code):
    """(line, text) of everything between ';', '{' and '}' outside parentheses.

    A brace directly after an operator, a comma, a parenthesis or a name that is being initialised
    (`Type{…}`, `f({…})`) belongs to the statement; one after ')' or a keyword opens a block.
    """
    code = re.sub(r"^[ \t]*#[^\n]*", "", code, flags=re.M)
    start, index, depth = 0, 0, 0
    while index < len(code):
        char = code[index]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth = max(0, depth - 1)
        elif char == "{" and depth == 0 and _is_initialiser(code[start:index]):
            index = closing(code, index)
        elif char in ";{}" and depth == 0:
            yield _statement(code, start, index)
            start = index + 1
        index += 1
    yield _statement(code, start, len(code))


def _statement(code, start, end):
    text = code[start:end]
    lead = len(text) - len(text.lstrip())
    return line_of(code, start + lead), " ".join(text.split())


def _is_initialiser(before):
    # Only where a coroutine waits does it matter what the braces are.
    return "co_await" in before.split(";")[-1] and not before.rstrip().endswith(")")


def lambdas(code):
    """(position, captures, body) of every lambda."""
    for match in re.finditer(r"(?<![\w\])])\s*\[([^\[\]]*)\]\s*(?=[({<]|mutable|->)", code):
        brace = _body_brace(code, match.end())
        if brace is not None:
            yield match.start(), match.group(1).strip(), code[brace:closing(code, brace) + 1]


def _body_brace(code, index):
    while index < len(code):
        char = code[index]
        if char == "(":
            index = closing(code, index)
        elif char == "{":
            return index
        elif char in ";,)":
            return None
        index += 1
    return None


_OF_CLASS = re.compile(r"^(?:(?:class|struct) ((?:\w+::)*\w+)\b(?![^{]*;)|[^\s/#{}][^;=\n]*?\b((?:\w+::)*\w+)::~?(?:operator\W+|\w+)\()",
                       re.M)


def class_parts(code):
    """(class, lines) of every definition at the left margin of a class, or of a member outside of it."""
    for match in _OF_CLASS.finditer(code):
        end = code.find("\n", match.end())
        if not code[match.end():end].endswith(";"):
            end = code.find("\n}", match.end()) + 1
        yield match.group(1) or match.group(2), code.count("\n", match.start(), end) + 1
