#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of this source that no compiler checks. Prints file:line: what, and why.

Usage: lint.py FOLDER          looks
       lint.py --fix FOLDER    writes the licence line into every source file that lacks it, and nothing else
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cpptext

CPP = (".h", ".cpp")
TEXT = CPP + (".py", ".sh", ".lua", ".cmake", ".txt", ".md", ".json", ".qrc", ".in", ".java", ".js", ".go", ".rs", "")
MOST_LINES = 500
MOST_TEST_LINES = 650  # a suite is a list: longer before it is hard to find one's way in
MOST_CLASS_LINES = 600  # over all files that define its members

LICENCE = "SPDX-License-Identifier: Apache-2.0"
_COMMENTS = {".lua": "-- ", ".py": "# ", ".sh": "# ", ".cmake": "# "}
_COMMENTS.update(dict.fromkeys(CPP + (".java", ".js", ".go", ".rs"), "// "))

# --- coroutines --------------------------------------------------------------------------------

_CONTROL = re.compile(r"^(?:else\b|do\b|case (?:[^?:]|::)+:(?!:)|default:|\w+:(?!:))\s*|^(?:if(?: constexpr)?|while|for|switch)\s*(?=\()")
_NAME = r"[A-Za-z_][\w.>:\-\[\]]*"
_ALLOWED = re.compile(rf"^(?:\(void\)|(?:[\w:<>,&* ]+[ &*])?{_NAME} = )?co_await (?P<operand>.+)$")


def _without_control(statement):
    """Takes `if (…)`, `else` and labels off the front; None if one of their conditions waits."""
    while True:
        match = _CONTROL.match(statement)
        if not match:
            return statement
        statement = statement[match.end():]
        if statement.startswith("("):
            end = cpptext.closing(statement, 0)
            if "co_await" in statement[:end]:
                return None
            statement = statement[end + 1:].lstrip()


_TRY = re.compile(r"^CO_TRY(?:_VOID)?\((?:(?P<name>[^,]+), )?(?P<wait>co_await .+)\)$")


def _why_not(statement):
    rest = _without_control(statement)
    if rest is None:
        return "co_await in a condition"
    # CO_TRY makes a statement of its own of what is awaited.
    tried = _TRY.match(rest)
    if tried:
        rest = f"{tried['name'] or 'auto result'} = {tried['wait']}"
    if rest.count("co_await") > 1:
        return "more than one co_await in a statement"
    match = _ALLOWED.match(rest)
    if not match:
        return "co_await inside a larger expression"
    operand = match.group("operand")
    if "{" in operand:
        return "a braced list or aggregate temporary beside co_await"
    if re.search(r"(?<![\w\])])\[[^\]]*\]\s*[({]", operand):
        return "a lambda beside co_await"
    depth = 0
    for char in operand:
        depth += (char in "(<[") - (char in ")>]")
        if depth <= 0 and char in "?|=+!":
            return "co_await inside a larger expression"
    return None


def check_await(path, text):
    if not path.endswith(CPP) or "co_" not in text:
        return
    code = cpptext.code_only(text)
    for line, statement in cpptext.statements(code):
        if "co_await" in statement and "operator co_await" not in statement:
            why = _why_not(statement)
            if why:
                yield line, f"{why}: GCC 12 miscompiles it; write `auto x = co_await f(named, args);`"
    for position, captures, body in cpptext.lambdas(code):
        if captures and re.search(r"\bco_(await|return|yield)\b", body):
            yield cpptext.line_of(code, position), "a lambda with captures is a coroutine: the captures die with the lambda"
    for position, branches in cpptext.ifs_with_initialiser(code):
        if "co_await" in branches:
            yield cpptext.line_of(code, position), "co_await in an `if` that declares a variable first: GCC 12 miscompiles it; declare it before"
    for match in re.finditer(r"\bcatch\s*\(", code):
        brace = code.find("{", cpptext.closing(code, match.end() - 1))
        if brace >= 0 and "co_await" in code[brace:cpptext.closing(code, brace)]:
            yield cpptext.line_of(code, match.start()), "co_await in catch is not C++; failures are values here"


_TRY_STATEMENT = re.compile(r"^[ \t]*(?:CO_)?TRY(?:_VOID)?\(", re.M)


def check_try(path, text):
    """TRY is more than one statement: what stands before it ends a statement or begins a block."""
    if not path.endswith(CPP):
        return
    code = cpptext.code_only(text)
    for match in _TRY_STATEMENT.finditer(code):
        before = code[:match.start()].rstrip()
        if before and before[-1] not in ";{}:":
            yield cpptext.line_of(code, match.start() + len(match.group()) - 1), "TRY without braces around it: only its first statement would belong to the condition"


# --- includes ------------------------------------------------------------------------------------

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
_STOPS_MOC = {"compare", "coroutine", "chrono", "concepts"}

_GUI = re.compile(
    r"^(?:Qt(?:Gui|Widgets|Svg)(?:/.*)?|Q(?:Application|GuiApplication|Action|Brush|Clipboard|Color|Cursor|Font.*|Icon|Image"
    r"|KeyEvent|KeySequence|MouseEvent|Painter.*|Palette|Pen|Pixmap|Screen|Standard(?:Item|ItemModel)|Style.*"
    r"|SvgRenderer|TextDocument|Window|.*Widget|MainWindow|Dialog|.*Dialog|.*View|.*Delegate|.*Button|.*Layout|Label|Menu"
    r"|MenuBar|Splitter|StatusBar|ToolBar|LineEdit|ComboBox))$")
_SERVERS = re.compile(r"^(?:Qt(?:Network|Sql)(?:/.*)?|Q(?:TcpSocket|TcpServer|UdpSocket|SslSocket|LocalSocket|AbstractSocket"
                      r"|NetworkAccessManager|Sql.*)|hiredis/.*|zookeeper/zookeeper\.h|sys/socket\.h"
                      r"|core/(?:zookeeper|redis)/client\.h)$")

# What a room of core may include. core/CMakeLists.txt says the same, so that nothing else compiles; here it is worded.
_CORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core", "CMakeLists.txt")
with open(_CORE, encoding="utf-8") as _file:
    _BACKENDS = set(re.search(r"set\(LOCKSCOPE_BACKENDS ([^)]*)\)", _file.read()).group(1).split())
_PORTS = {"base", "async"} | _BACKENDS
_USES = {
    "base": set(),
    "async": {"base"},
    "transport": {"base", "async"},
    **{backend: {"transport", "async", "base"} for backend in _BACKENDS},
    "rules": {"base"},
    "recipes": _PORTS | {"rules"},
    "inspect": _PORTS | {"rules"},
    "operate": _PORTS | {"rules", "inspect"},
    "history": {"base", "async", "inspect"},
    "simservers": _PORTS | {"rules"},
    "contention": _PORTS | {"rules", "recipes", "simservers"},
    "lessons": {"base", "contention"},
    "rehearse": _PORTS | {"rules", "recipes", "inspect", "operate", "simservers", "contention"},
    "sandbox": _PORTS | {"transport", "rules", "recipes"},
    "connections": {"base"},
    "workspace": _PORTS | {"transport", "rules", "recipes", "inspect", "operate", "history", "contention", "lessons",
                           "connections", "rehearse"},
}
if "postgresql" in _USES:
    _USES["postgresql"] |= {"mariadb"}  # another dialect of its session
# The same of the rooms of ui (ui/CMakeLists.txt), and all that any of them sees of the core.
_UI_USES = {
    "theme": set(),
    "models": {"theme"},
    "parts": {"theme", "models"},
    "views": {"theme", "models", "parts"},
    "shell": {"theme", "models", "parts"},
    "simulator": {"theme", "models", "parts"},
    "lessons": {"theme", "models", "parts", "simulator"},
    "dialogs": {"theme", "models", "parts", "views"},
    "graph": {"theme", "models", "parts"},
    "pages": {"theme", "models", "parts", "views", "graph", "simulator", "lessons", "dialogs"},
}
_UI_SEES = re.compile(r"core/(?:base/\w+|workspace/(?:backend|values))\.h$")


def includes(text):
    """(line, name) of every include, comments aside."""
    # Literals are file names here, so only whole-line comments are taken out.
    text = re.sub(r"^[ \t]*//[^\n]*", "", text, flags=re.M)
    return [(cpptext.line_of(text, m.start(2)), m.group(2)) for m in _INCLUDE.finditer(text)]


def check_arrows(path, text):
    if not path.endswith(CPP):
        return
    parts = path.split("/")
    for line, name in includes(text):
        target = name.split("/")
        if parts[0] == "core" and target[0] in ("ui", "app"):
            yield line, f"core includes {name}: arrows point down, app → ui → core"
        if parts[0] == "ui" and target[0] == "app":
            yield line, f"ui includes {name}: arrows point down, app → ui → core"
        if parts[0] == "ui" and target[0] == "core" and not _UI_SEES.match(name):
            yield line, f"ui includes {name}: of the core it sees base, workspace/values.h and workspace/backend.h"
        if parts[0] in ("core", "ui") and target[0] == parts[0] and len(parts) > 2:
            room, other = parts[1], target[1]
            if other != room and other not in (_USES if parts[0] == "core" else _UI_USES).get(room, {other}):
                yield line, f"{parts[0]}/{room} includes {name}: {room} stands below {other}, or beside it"


def check_core_without_gui(path, text):
    if not path.startswith("core/"):
        return
    if path.endswith(CPP):
        for line, name in includes(text):
            if _GUI.match(name):
                yield line, f"core includes <{name}>: core never needs Gui or Widgets"
    elif path.endswith("CMakeLists.txt"):
        for match in re.finditer(r"Qt6?::(Gui|Widgets|Svg|SvgWidgets)\b", text):
            yield cpptext.line_of(text, match.start()), f"core links {match.group(0)}: core never needs Gui or Widgets"


def check_ui_without_servers(path, text):
    if path.startswith("ui/") and path.endswith(CPP):
        for line, name in includes(text):
            if _SERVERS.match(name):
                yield line, f"ui includes <{name}>: ui asks the Backend, it never talks to servers"


class MocOrder:
    """moc 6.4 stops in a file with Q_OBJECT when <compare>, <coroutine> … come before <version>.

    Every Qt header brings <version> along.
    """

    def __init__(self, read):
        self._read = read  # path → text, or None

    def check(self, path, text):
        if not path.endswith(CPP):
            return
        names = [name for _, name in includes(text)]
        for early in ("coroutine", "compare"):
            if early in names and "version" not in names[:names.index(early)]:
                yield 1, f"<{early}> without <version> before it stops moc 6.4"
        if re.search(r"\bQ_(OBJECT|GADGET|NAMESPACE)\b", cpptext.code_only(text)):
            first = self._first_bad(text, set())
            if first in _STOPS_MOC:
                yield 1, f"<{first}> comes to moc before <version> here: include <version> first"

    def _first_bad(self, text, seen):
        for _, name in includes(text):
            if name == "version" or name in _STOPS_MOC or re.match(r"Q[A-Zt]", name):
                return name
            inner = self._read(name) if name not in seen and "/" in name else None
            seen.add(name)
            found = self._first_bad(inner, seen) if inner is not None else None
            if found:
                return found
        return None


class MocIncluded:
    """What moc writes for a class is compiled with the class's own file, which has read the headers already.

    On its own it is a unit more for each folder, of 2 to 11 seconds.
    """

    def __init__(self, read):
        self._read = read

    def check(self, path, text):
        if not path.endswith(".h") or not re.search(r"^\s*Q_(OBJECT|GADGET|NAMESPACE)\b", text, re.MULTILINE):
            return
        source = self._read(path[:-2] + ".cpp")
        moc = f"moc_{os.path.basename(path)[:-2]}.cpp"
        if source is not None and moc not in (name for _, name in includes(source)):
            yield 1, f'its .cpp does not end with #include "{moc}": moc\'s file would be a unit of its own'


# --- one idea each ---------------------------------------------------------------------------------

_OWN_CLOCK = re.compile(r"\bQTimer\b|\bQElapsedTimer\b|\bQDateTime::current\w*|\bQTime::current\w*|_clock::now\b"
                        r"|\bthis_thread\b|\bQThread::\w*sleep|\brandom_device\b|\bfromSystem\b|\bQRandomGenerator\b")


def check_recipe_clock(path, text):
    if path.startswith("core/recipes/") and path.endswith(CPP):
        code = cpptext.code_only(text)
        for match in _OWN_CLOCK.finditer(code):
            yield cpptext.line_of(code, match.start()), (
                f"{match.group(0)} in a recipe: time and chance come from the Loop and the Random it is given")


_WALL_CLOCK = re.compile(r"\bsystem_clock::now\b|\bWallTime::clock::now\b|\bQDateTime::current\w*|\bQTime::current\w*")
# Who may read the wall clock, which jumps when somebody sets it, and what for.
_READS_WALL_CLOCK = {
    "core/base/clock.cpp": "the one clock",
    "core/async/qtloop.cpp": "Loop::wallNow()",
    "core/sandbox/temporaryfolder.cpp": "beside the times of files",
    "core/history/flightrecorder.cpp": "beside the times of files",
    "core/operate/redisedit.cpp": "an expiry that is a time of day",
    "core/operate/edit.cpp": "the audit file",
    "core/operate/audit.cpp": "the audit file",
    "core/operate/gate.cpp": "the command log",
    "core/workspace/mutes.cpp": "mutes end at a time of day, for every program that reads them",
    "ui/models/alertwatch.cpp": "when a mute ends",
    "ui/dialogs/settingsdialog.cpp": "when mutes end",
    "ui/dialogs/editform.cpp": "an expiry that is a time of day",
    "ui/dialogs/releaseparts.cpp": "the time of day of an announcement",
    "ui/pages/startdoors.cpp": "the time of day of a failure",
    "ui/windowstart.cpp": "when a connection was last seen, for later runs",
    "ui/parts/tabletools.cpp": "when a file was written",
    "ui/pages/znodesdetail.cpp": "the time of day of a refusal",
    "ui/pages/keysdetail.cpp": "the time of day of a refusal",
    "app/lockscopectl/live.cpp": "the time of day of a line of --watch",
}


def check_wall_clock(path, text):
    if path.startswith(("core/", "ui/", "app/")) and path.endswith(CPP) and path not in _READS_WALL_CLOCK:
        code = cpptext.code_only(text)
        for match in _WALL_CLOCK.finditer(code):
            yield cpptext.line_of(code, match.start()), (
                f"{match.group(0)} jumps when somebody sets the clock: ages and spans are by programClock() "
                "(core/base/clock.h) or datedNow(loop); what needs the time of day is named in lint.py")
    if path.startswith(("core/inspect/", "core/history/", "core/workspace/")) and path.endswith(CPP):
        code = cpptext.code_only(text)
        for match in re.finditer(r"\bwallNow\(\)", code):
            yield cpptext.line_of(code, match.start()), (
                "wallNow() jumps when somebody sets the clock: what is seen is dated by datedNow(loop)")


def check_model_reset(path, text):
    if not path.startswith("ui/") or not path.endswith(CPP):
        return
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if "beginResetModel" in line and not any("reset:" in near for near in lines[max(0, number - 2):number]):
            yield number, ("beginResetModel loses selection and scroll; tell rows, or say why not in a comment "
                           "`// reset: …` on this line or the one before")


def check_test_patience(path, text):
    """Where several tests share two cores with a sanitizer, five seconds are short."""
    if not path.startswith("tests/") or not path.endswith(CPP):
        return
    code = cpptext.code_only(text)
    for match in re.finditer(r"\bqWaitFor\((?=\[)", code):
        condition = code.index("{", match.end())
        if code[cpptext.closing(code, condition) + 1:].lstrip().startswith(")"):
            yield cpptext.line_of(code, match.start()), "qWaitFor() waits for five seconds: say how long, 30'000 say"


def check_todo(path, text):
    for match in re.finditer(r"\b(TODO|FIXME|XXX|HACK)\b(?!\([^)]{8,}\))", text):
        yield cpptext.line_of(text, match.start()), f"{match.group(1)} without a reason in parentheses"


# arg() of one argument replaces the lowest %N that it finds, also in what the one before it put in.
_INNER = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
_CHAINED = re.compile(r"\.arg\((" + _INNER + r")\)\s*\.arg\(")
_THEIR_TEXT = re.compile(r"\b(?:label|escaped|harmless|shown|fromUtf8|displayUri|errorString|lastError)\("
                         r"|^(?:what|name|text|harmless|said|m_path|[\w.>-]+(?:\.|->)(?:name|message))$")


def check_chained_arg(path, text):
    if not path.endswith(CPP) or path.startswith("tests/"):
        return
    code = cpptext.code_only(text)
    at = 0
    while match := _CHAINED.search(code, at):
        if _THEIR_TEXT.search(match.group(1).strip()):
            yield cpptext.line_of(code, match.start()), (
                "arg() after an arg() with somebody's text: a \"%2\" in it would be replaced; give all in one arg()")
        at = match.end() - len(".arg(")


_CLIENT_NAME = re.compile(r'\bclient\b[^;&|\n]{0,40}(?:[=!]=\s*u?"|(?:startsWith|contains)\(u?")|\bcontains\(\*?[\w.>-]*\bclient\)')


def check_client_names(path, text):
    if path.startswith(("core/inspect/", "core/operate/", "core/workspace/", "ui/", "app/")) and path.endswith(CPP):
        for match in _CLIENT_NAME.finditer(text):
            yield cpptext.line_of(text, match.start()), (
                "a client's name is compared: what it does differently is a trait beside its name (knownclients.h)")


# Every id in a file of the catalogue.
def _recipe_ids():
    recipes = os.path.join(os.path.dirname(_CORE), "..", "resources", "recipes")
    for name in sorted(os.listdir(recipes)):
        with open(os.path.join(recipes, name), encoding="utf-8") as file:
            yield from re.findall(r'"id": "([\w-]+)"', file.read())


_RECIPE_ID = r'u?"(?:' + "|".join(_recipe_ids()) + r')"(?:_\w+)?'
_RECIPE_COMPARED = re.compile(rf"[=!]=\s*{_RECIPE_ID}|{_RECIPE_ID}\s*[=!]=|case {_RECIPE_ID}"
                              rf"|(?:contains|startsWith|endsWith|count)\({_RECIPE_ID}"
                              rf"|\b(?:find|contains|count|startsWith|endsWith)\((?:[^;()]*[ .>])?recipe\)")


def check_recipe_ids(path, text):
    if path.startswith(("core/", "ui/", "app/")) and not path.startswith("core/recipes/") and path.endswith(CPP):
        for match in _RECIPE_COMPARED.finditer(text):
            yield cpptext.line_of(text, match.start()), (
                "a recipe is asked for by its id: what is special about it is a field of its entry (core/rules/catalogue.h)")


def check_size(path, text):
    lines = text.count("\n") - (LICENCE in text)
    most = MOST_TEST_LINES if path.startswith("tests/") else MOST_LINES
    if path.endswith(CPP + (".py", ".sh", ".lua", ".cmake")) and lines > most:
        yield lines, f"{lines} lines; {most} is the most for one file"


class ClassSizes:
    """A class cut over files is as long as all of them."""

    def __init__(self):
        self._lines = {}  # folder and class → lines
        self._where = {}  # the first of its files

    def add(self, path, text):
        if not path.endswith(CPP) or path.startswith("tests/"):
            return
        for name, lines in cpptext.class_parts(cpptext.code_only(text)):
            key = f"{os.path.dirname(path)} {name}"
            self._lines[key] = self._lines.get(key, 0) + lines
            self._where.setdefault(key, path)

    def findings(self):
        for key, lines in self._lines.items():
            if lines > MOST_CLASS_LINES:
                yield self._where[key], f"{key.split()[1]} has {lines} lines; {MOST_CLASS_LINES} is the most for one class"


_HOMES = re.compile(r"(?<![\w.>])/(?:root|home/\w+|Users/\w+)/[\w.-]")


class MachinePaths:
    """No home folders, and not the folder that this checkout happens to lie in."""

    def __init__(self, root):
        self._checkout = re.compile(re.escape(os.path.abspath(root).rstrip("/")) + r"\b")

    def check(self, _path, text):
        for rule in (_HOMES, self._checkout):
            for match in rule.finditer(text):
                yield cpptext.line_of(text, match.start()), f"a path of one machine: {match.group(0)}…"


# --- references ------------------------------------------------------------------------------------

# docs/layouts.md, docs/layouts.md#redis, tests/claims.md, docs/layouts.md, "Way of release" (the heading on the next line, too)
_DOC = re.compile(r'\b(?:docs|tests)/[\w./-]*\w\.md(?:#(?P<anchor>[\w-]+)|(?:,[\s/#*-]+"(?P<heading>[^"\n]+)"))?')
_LINK = re.compile(r"\]\((?P<file>[\w./-]+\.md)?(?:#(?P<anchor>[\w-]+))?\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.M)
_BEHAVIOUR = re.compile(r"\b[A-H][0-9]{1,2}_\w+\b")
# Documents that were never in the repository.
_GONE = re.compile(r"\bthe contract\b|\bcommand-line contract\b|\block-layout reference\b|\bthe layout reference\b|\bseed 0[0-9]{2}\b"
                   r"|\(reference [A-H][0-9]|\bpart [A-H][0-9]* of the reference\b", re.I)


def _anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


class References:
    """Whoever reads a comment finds in the repository, or in public, what it names."""

    def __init__(self, read):
        self._read = read  # path → text, or None

    def check(self, path, text):
        for match in _DOC.finditer(text):
            line = cpptext.line_of(text, match.start())
            name = match.group(0).split(".md")[0] + ".md"
            document = self._read(name)
            if document is None:
                yield line, f"{name} is not in the repository"
                continue
            headings = _HEADING.findall(document)
            wanted = match.group("heading")
            if wanted and wanted not in headings:
                yield line, f"{name} has no heading \"{wanted}\""
            if match.group("anchor") and match.group("anchor") not in map(_anchor, headings):
                yield line, f"{name} has no heading for #{match.group('anchor')}"
        if path.endswith(".md"):
            yield from self._check_links(path, text)
        for match in _GONE.finditer(text):
            yield cpptext.line_of(text, match.start()), (
                f"\"{match.group(0)}\" leads nowhere: name a file of docs/ or tests/, or a public source")
        yield from self._check_behaviours(path, text)

    # [text](other.md#heading), from where the page lies.
    def _check_links(self, path, text):
        for match in _LINK.finditer(text):
            name = os.path.normpath(os.path.join(os.path.dirname(path), match.group("file"))) if match.group("file") else path
            document = text if name == path else self._read(name)
            anchor = match.group("anchor")
            if document is None or (anchor and anchor not in map(_anchor, _HEADING.findall(document))):
                yield cpptext.line_of(text, match.start()), f"the link {match.group(0)[1:]} leads nowhere"

    # Every behaviour that has a test has a line, and every test named there is one.
    def _check_behaviours(self, path, text):
        book = "tests/behaviours.md"
        if path.startswith("tests/contract/"):
            for match in re.finditer(r"\bvoid ([A-H][0-9]{1,2}_\w+)\(\)", text):
                name = match.group(1)
                if not name.endswith("_data") and name not in (self._read(book) or ""):
                    yield cpptext.line_of(text, match.start()), f"{name} has no line in {book}"
        if path == book:
            suites = "".join(self._read(f"tests/contract/{name}.cpp") or ""
                             for name in sorted(set(re.findall(r"\btst_contract_\w+", text))))
            for match in _BEHAVIOUR.finditer(text):
                if f"void {match.group(0)}()" not in suites:
                    yield cpptext.line_of(text, match.start()), f"{match.group(0)} is no test of the suites named here"


# --- licence ---------------------------------------------------------------------------------------

def licence_line(path, text):
    """The line that the file begins with, after a line "#!…"; None for what is no source."""
    if os.path.basename(path) == "CMakeLists.txt" or text.startswith("#!"):
        return "# " + LICENCE
    comment = _COMMENTS.get(os.path.splitext(path)[1])
    return comment + LICENCE if comment else None


def check_licence(path, text):
    wanted = licence_line(path, text)
    first = 1 if text.startswith("#!") else 0
    if wanted and text.split("\n")[first:first + 1] != [wanted]:
        yield first + 1, f"does not begin with \"{wanted}\"; lint.py --fix writes it"


def with_licence(path, text):
    if not any(check_licence(path, text)):
        return text
    shebang, text = re.match(r"(#![^\n]*\n)?(.*)", text, re.S).groups(default="")
    return f"{shebang}{licence_line(path, shebang + text)}\n{text}"


RULES = [check_await, check_try, check_arrows, check_core_without_gui, check_ui_without_servers, check_recipe_clock, check_wall_clock, check_chained_arg,
         check_model_reset, check_test_patience, check_todo, check_client_names, check_recipe_ids, check_size]
# These break the rules on purpose.
EXEMPT = ("tests/lint/",)


def findings(path, text, read, root="/nowhere"):
    for rule in RULES + [MocOrder(read).check, MocIncluded(read).check, References(read).check, MachinePaths(root).check]:
        for line, what in rule(path, text):
            yield line, what


def source_files(root, exempt=EXEMPT):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ("build", ".git", ".cache", "__pycache__"))
        for name in sorted(set(files) - {".git"}):
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if os.path.splitext(name)[1] in TEXT and not path.startswith(exempt):
                yield path


def fix(root):
    changed = 0
    for path in source_files(root, exempt=()):
        # newline="": line ends stay as they are.
        with open(os.path.join(root, path), encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
        better = with_licence(path, text)
        if better != text:
            with open(os.path.join(root, path), "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(better)
            changed += 1
    print(f"{changed} files changed")
    return 0


def main(root):
    def read(path):
        try:
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    checked, found, classes = 0, 0, ClassSizes()
    for path in source_files(root, exempt=()):
        text = read(path)
        if text is None:
            continue
        checked += 1
        classes.add(path, text)
        told = [*check_licence(path, text)]
        if not path.startswith(EXEMPT):
            told += findings(path, text, read, root)
        for line, what in told:
            found += 1
            print(f"{path}:{line}: {what}")
    for path, what in classes.findings():
        found += 1
        print(f"{path}:1: {what}")
    print(f"{checked} files, {found} findings")
    # Nothing looked at would be no good news.
    return 1 if found or checked < 10 else 0


if __name__ == "__main__":
    sys.exit(fix(sys.argv[2]) if sys.argv[1] == "--fix" else main(sys.argv[1]))
