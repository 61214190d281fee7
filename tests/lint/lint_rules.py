#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule of the lint, broken once and kept once."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lint
import prose
import reach
from manual import main as main_of_manual

CORE = "core/recipes/x.cpp"


def found(path, text, files=None):
    return [what for _, what in lint.findings(path, text, (files or {}).get)]


class Try(unittest.TestCase):
    HEAD = "// SPDX-License-Identifier: Apache-2.0\n"

    def found(self, text):
        return [what for _, what in lint.check_try("core/a.cpp", self.HEAD + text)]

    def test_kept(self):
        self.assertEqual(self.found("void f()\n{\n    TRY(auto &x, g());\n    if (x) {\n        TRY_VOID(h());\n    }\n    CO_TRY_VOID(k());\n}\n"), [])

    def test_broken(self):
        self.assertEqual(len(self.found("    if (x)\n        TRY_VOID(h());\n    else\n        CO_TRY(auto &y, co_await z);\n")), 2)


class Reach(unittest.TestCase):
    CONNECTION = "namespace lockscope::redis {\nclass Connection;\n}\n"

    def found(self, files):
        tree = reach.Tree({path: reach.Source(path, text) for path, text in files.items()})
        return [(path, line) for path, line, _ in tree.findings()]

    def test_kept(self):
        user = '#include "core/b.h"\nlockscope::redis::Connection *c; std::vector<int> v; world::redis::Other *o;\n'
        self.assertEqual(self.found({"core/a.h": self.CONNECTION, "core/b.h": '#include "core/a.h"\n',
                                     "core/c.cpp": user}), [])
        self.assertEqual(self.found({"core/a.h": self.CONNECTION + "redis::Connection *c;\n"}), [])
        self.assertEqual(self.found({"tests/x/a.h": self.CONNECTION.replace("::redis", "::inline redis"),
                                     "tests/x/c.cpp": '#include "a.h"\nredis::Connection *c;\n'}), [])

    def test_broken(self):
        # Its neighbour includes it, or an include has the namespace and not the name, or only a comment has it.
        self.assertEqual(self.found({"core/a.h": self.CONNECTION, "core/b.cpp": '#include "core/a.h"\n',
                                     "core/c.cpp": "\nredis::Connection *c;\n"}), [("core/c.cpp", 2)])
        self.assertEqual(self.found({"core/a.h": self.CONNECTION, "core/d.h": "namespace lockscope::redis {\n// Value\n}\n",
                                     "core/c.cpp": '#include "core/d.h"\nredis::Connection *c;\nredis::Value *v;\n'}),
                         [("core/c.cpp", 2), ("core/c.cpp", 3)])

    def test_literals(self):
        using = "namespace lockscope::testing {\nusing namespace std::chrono_literals;\n}\n"
        wait = "auto wait = 5ms;\n"
        self.assertEqual(self.found({"tests/a.cpp": wait}), [("tests/a.cpp", 1)])
        self.assertEqual(self.found({"tests/a.cpp": "using namespace std::chrono_literals;\n" + wait}), [])
        include = '#include "tests/b.h"\n'
        self.assertEqual(self.found({"tests/b.h": using, "tests/a.cpp": include + wait}), [("tests/a.cpp", 2)])
        self.assertEqual(
            self.found({"tests/b.h": using,
                        "tests/a.cpp": include + "using namespace lockscope::testing;\n" + wait}), [])
        shared = "namespace lockscope {\nusing namespace std::chrono_literals;\n}\n"
        inner = include + "namespace lockscope::ui {\n" + wait + "}\n"
        self.assertEqual(self.found({"tests/b.h": shared, "tests/a.cpp": inner}), [])
        self.assertEqual(self.found({"tests/b.h": shared, "tests/a.cpp": include + wait}), [("tests/a.cpp", 2)])
        self.assertEqual(self.found({"tests/b.h": "void f() {}\nusing namespace std::chrono_literals;\n",
                                     "tests/a.cpp": include + wait}), [])


class Await(unittest.TestCase):
    def test_kept(self):
        for good in [
                "auto x = co_await f(named, args);",
                "const auto got = co_await reply;",
                "const Result<std::vector<int>> got = co_await m_session->list(path, deadline);",
                "out = co_await value;",
                "m_state.out = co_await value;",
                "co_await x;",
                "(void)co_await x;",
                "co_return value;",
                "if (ready) co_await x;",
                "if (auto x = f(); x) g(); co_await y;",
                "if (auto x = f(); x) { g(); } else h();\nco_await y;",
                "if (ready) { for (int i = 0; i < 2; ++i) co_await x; }",
                "if (a) { co_await x; } else { auto y = co_await g(b); }",
                "for (int i = 0; i < 3; ++i)\n    co_await x;",
                "switch (k) { case K::One: co_await x; break; default: break; }",
                "// if (co_await f())\nco_await x;",
                'const char *text = "if (co_await f())";',
                "Awaiter operator co_await() const { return Awaiter(m_state); }",
                "auto call = [](Task<int> task) -> Task<void> { co_await task; };",
                "auto plain = [this] { post(); };\nco_await x;",
                "const auto big = 1'000'000; auto y = co_await f(big);",
                "auto z = co_await waitFor(list[0], m_map.at(key));",
        ]:
            self.assertEqual(found(CORE, "Task<void> f()\n{\n" + good + "\n}\n"), [], good)

    def test_broken(self):
        for bad in [
                "if (co_await f()) { g(); }",
                "while (co_await f()) g();",
                "for (auto x = co_await f(); x; ) g();",
                "switch (co_await f()) { default: break; }",
                "if (auto x = co_await f(); x) g();",
                "if (auto x = f(); x) co_await y;",
                "if (const auto x = f(); !x) { g(); } else { co_await y; }",
                "if (auto x = f(); x) g(); else if (z) for (;;) { auto r = co_await y; }",
                "co_return co_await f();",
                "return co_await f();",
                "auto x = 1 + co_await f();",
                "auto x = co_await f() + 1;",
                "auto x = (co_await f()).value();",
                "auto x = co_await f() ? 1 : 2;",
                "auto x = g(co_await f());",
                "auto x = co_await f(co_await g());",
                "auto x = co_await f(Options{1, 2});",
                "auto x = co_await f({1, 2});",
                "auto x = co_await Pair{1, 2};",
                "auto x = co_await f([&] { return 1; });",
                "auto x = co_await f([this](int a) { return a; }, 3);",
                "try { g(); } catch (const E &) { co_await x; }",
                "auto task = [this]() -> Task<void> { co_await m_reply; };",
                "launch([&value]() -> Task<int> { co_return value; }());",
                "do g(); while (co_await f());",
        ]:
            self.assertNotEqual(found(CORE, "Task<void> f()\n{\n" + bad + "\n}\n"), [], bad)

    def test_line(self):
        text = "Task<void> f()\n{\n    /* two\n lines */\n    co_await x;\n    if (co_await g())\n        h();\n}\n"
        self.assertEqual([line for line, _ in lint.findings(CORE, text, {}.get)], [6])


class ChainedArg(unittest.TestCase):
    def test_kept(self):
        for good in ["x = u\"%1 %2\"_s.arg(label(name), QString::number(n));", "x = u\"%1 %2\"_s.arg(n).arg(m);",
                     "x = u\"%1 %2\"_s.arg(n).arg(name);"]:
            self.assertEqual(found("core/operate/x.cpp", good), [], good)

    def test_broken(self):
        for bad in ["x = u\"%1 %2\"_s.arg(label(name)).arg(n);", "x = u\"%1 %2\"_s.arg(what)\n    .arg(n);",
                    "x = u\"%1 %2 %3\"_s.arg(n).arg(escaped(f(key))).arg(m);",
                    "x = u\"%1 %2 %3\"_s.arg(label(a), b).arg(m);"]:
            self.assertNotEqual(found("core/operate/x.cpp", bad), [], bad)


class Includes(unittest.TestCase):
    def test_arrows(self):
        for path, name in [
                ("core/base/x.h", "core/async/task.h"), ("core/zookeeper/x.h", "core/rules/turn.h"),
                ("core/redis/x.cpp", "core/zookeeper/session.h"), ("core/recipes/x.h", "core/inspect/snapshot.h"),
                ("core/inspect/x.cpp", "core/recipes/lock.h"), ("core/operate/x.cpp", "core/recipes/zkmutex.h"),
                ("core/inspect/x.cpp", "core/operate/gate.h"), ("core/base/x.cpp", "ui/mainwindow.h"),
                ("core/sandbox/x.cpp", "app/lockscope/main.h"), ("ui/x.cpp", "app/lockscope/main.h"),
                ("core/inspect/zookeeper/x.cpp", "core/workspace/backend.h"), ("ui/models/x.h", "ui/parts/parts.h"),
                ("ui/simulator/x.cpp", "ui/pages/page.h"), ("ui/pages/x.cpp", "ui/shell/sidebar.h"),
                ("ui/dialogs/x.cpp", "ui/mainwindow.h"), ("ui/pages/x.cpp", "core/rules/catalogue.h"),
                ("ui/models/x.cpp", "core/workspace/workspace.h"),
        ]:
            self.assertNotEqual(found(path, f'#include "{name}"\n'), [], (path, name))
        for path, name in [
                ("core/inspect/x.cpp", "core/rules/turn.h"), ("core/operate/x.cpp", "core/rules/catalogue.h"),
                ("core/recipes/x.cpp", "core/zookeeper/session.h"), ("core/workspace/x.cpp", "core/recipes/lock.h"),
                ("ui/x.cpp", "core/workspace/backend.h"), ("app/x.cpp", "ui/mainwindow.h"),
                ("tests/unit/x.cpp", "core/zookeeper/client.h"), ("core/operate/x.cpp", "core/operate/gate.h"),
                ("ui/models/x.h", "core/workspace/values.h"), ("ui/pages/x.cpp", "ui/lessons/lessonview.h"),
                ("ui/mainwindow.cpp", "ui/shell/sidebar.h"), ("tests/ui/x.cpp", "core/rules/catalogue.h"),
        ]:
            self.assertEqual(found(path, f'#include "{name}"\n'), [], (path, name))
        self.assertEqual(found("core/base/x.h", '// #include "ui/mainwindow.h"\n'), [])

    def test_gui_in_core(self):
        for name in ["QWidget", "QColor", "QtGui/QImage", "QApplication", "QTreeView", "QPushButton"]:
            self.assertNotEqual(found("core/base/x.cpp", f"#include <{name}>\n"), [], name)
        for name in ["QString", "QCoreApplication", "QTimer", "QStringView"][:3]:
            self.assertEqual(found("core/base/x.cpp", f"#include <{name}>\n"), [], name)
        self.assertEqual(found("ui/x.cpp", "#include <QWidget>\n"), [])
        self.assertNotEqual(found("core/CMakeLists.txt", "target_link_libraries(x PUBLIC Qt6::Widgets)\n"), [])
        self.assertEqual(found("core/CMakeLists.txt", "target_link_libraries(x PUBLIC Qt6::Core)\n"), [])

    def test_servers_in_ui(self):
        for name in ["QTcpSocket", "QSslSocket", "QSqlDatabase", "QtNetwork/QNetworkAccessManager", "hiredis/hiredis.h",
                     "core/redis/client.h"]:
            self.assertNotEqual(found("ui/models/x.cpp", f"#include <{name}>\n"), [], name)
        self.assertEqual(found("core/redis/x.cpp", "#include <QSslSocket>\n"), [])

    def test_version_first(self):
        self.assertNotEqual(found("core/async/x.h", "#include <coroutine>\n"), [])
        self.assertNotEqual(found("core/async/x.h", "#include <coroutine>\n#include <version>\n"), [])
        self.assertEqual(found("core/async/x.h", "#include <version>\n#include <coroutine>\n"), [])
        files = {"core/base/a.h": '#include "core/base/b.h"\n', "core/base/b.h": "#include <optional>\n#include <chrono>\n",
                 "core/base/v.h": "#include <version>\n#include <chrono>\n"}
        q = "class X : public QObject {\n    Q_OBJECT\n};\n"
        self.assertNotEqual(found("ui/x.h", '#include "core/base/a.h"\n' + q, files), [])
        self.assertEqual(found("ui/x.h", '#include <version>\n#include "core/base/a.h"\n' + q, files), [])
        self.assertEqual(found("ui/x.h", '#include "core/base/v.h"\n#include "core/base/a.h"\n' + q, files), [])
        self.assertEqual(found("ui/x.h", '#include <QString>\n#include "core/base/a.h"\n' + q, files), [])
        self.assertEqual(found("ui/x.h", '#include "core/base/a.h"\nclass X {};\n', files), [])


class OneIdeaEach(unittest.TestCase):
    def test_moc_included(self):
        header = "class X {\n    Q_OBJECT\n};\n"
        self.assertEqual(found("ui/x.h", header, {"ui/x.cpp": '#include "moc_x.cpp"\n'}), [])
        self.assertEqual(found("ui/x.h", header), [])
        self.assertNotEqual(found("ui/x.h", header, {"ui/x.cpp": '#include "ui/x.h"\n'}), [])

    def test_clock(self):
        for bad in ["QTimer timer;", "QDateTime::currentDateTime();", "std::chrono::steady_clock::now();",
                    "Random::fromSystem();", "std::this_thread::sleep_for(1s);"]:
            self.assertNotEqual(found("core/recipes/x.cpp", bad + "\n"), [], bad)
            self.assertEqual(found("tests/live/x.cpp", bad + "\n"), [], bad)
        self.assertEqual(found("core/recipes/x.cpp", "// no QTimer here\nconst auto now = loop.now();\n"), [])

    def test_wall_clock(self):
        for bad in ["const auto now = std::chrono::system_clock::now();", "QDateTime::currentDateTimeUtc();",
                    "QDateTime::currentMSecsSinceEpoch();"]:
            for path in ["core/inspect/x.cpp", "ui/pages/x.h", "app/lockscope/x.cpp"]:
                self.assertNotEqual(found(path, bad + "\n"), [], bad)
            self.assertEqual(found("core/operate/audit.cpp", bad + "\n"), [], bad)
        self.assertNotEqual(found("core/history/x.cpp", "m_loop.wallNow();\n"), [])
        self.assertEqual(found("core/recipes/redis/x.cpp", "m_loop.wallNow();\n"), [])
        self.assertEqual(found("core/inspect/x.cpp", "datedNow(m_loop); std::chrono::steady_clock::now();\n"), [])

    def test_reset(self):
        self.assertNotEqual(found("ui/models/x.cpp", "    beginResetModel();\n"), [])
        self.assertEqual(found("ui/models/x.cpp", "    beginResetModel(); // reset: another connection\n"), [])
        self.assertEqual(found("ui/models/x.cpp", "    // reset: another connection\n    beginResetModel();\n"), [])

    def test_patience(self):
        self.assertNotEqual(found("tests/ui/x.cpp", "return QTest::qWaitFor([&] { return isThere(a, b); });\n"), [])
        self.assertEqual(found("tests/ui/x.cpp", "return QTest::qWaitFor([&] { return isThere(a); }, 30'000);\n"), [])

    def test_todo(self):
        self.assertNotEqual(found("core/base/x.cpp", "// TODO later\n"), [])
        self.assertNotEqual(found("README.md", "FIXME\n"), [])
        self.assertEqual(found("core/base/x.cpp", "// TODO(needs server 3.9)\n"), [])

    def test_client_names(self):
        for bad in ['if (lock.client == u"Curator"_s)', 'client->startsWith(u"ShedLock"_s)',
                    'lock.client.value_or(QString()) != u"x"_s', 'names.contains(*snapshot.client)']:
            self.assertNotEqual(found("core/operate/x.cpp", bad + ";\n"), [], bad)
        for good in ['lock.client = u"kazoo"_s', 'before.client == now.client', '!form->client && key.startsWith("a")']:
            self.assertEqual(found("core/operate/x.cpp", good + ";\n"), [], good)

    def test_recipe_ids(self):
        for bad in ['if (lock.recipe == "zk-mutex")', 'if ("redlock" != id)', 'recipe.startsWith("redisson-lock"_ba)',
                    'return std::ranges::find(always, lock.recipe) != always.end()', 'known.contains(recipe)']:
            self.assertNotEqual(found("core/inspect/x.cpp", bad + ";\n"), [], bad)
            self.assertEqual(found("core/recipes/x.cpp", bad + ";\n"), [], bad)
        for good in ['lock.recipe = "zk-mutex"', 'makeLock("sql-version", *session)', 'recipe.id == lock.recipe',
                     'program == "redis-server"', 'findRecipe(lock.recipe)']:
            self.assertEqual(found("core/inspect/x.cpp", good + ";\n"), [], good)

    def test_size(self):
        self.assertNotEqual(found("core/base/x.cpp", "int a;\n" * 501), [])
        self.assertEqual(found("core/base/x.cpp", "int a;\n" * 500), [])

    def test_class_size(self):
        def told(lines, folder="core/base"):
            sizes = lint.ClassSizes()
            sizes.add(f"{folder}/x.h", "struct Other;\nclass X {\n    int f();\n};\nX::X() = default;\n")
            for name in "fg":
                sizes.add(f"{folder}/{name}.cpp", f"int X::{name}()\n{{\n" + "    a();\n" * lines + "}\n")
            return [*sizes.findings()]
        self.assertEqual(told(290), [])
        self.assertNotEqual(told(300), [])
        self.assertEqual(told(300, "tests/unit"), [])

    def test_machine_paths(self):
        for bad in ["see /home/ada/src", "cd /root/x", 'open("/Users/ada/x")', 'path = "/srv/checkout/build"']:
            self.assertNotEqual(list(lint.findings("README.md", bad + "\n", {}.get, "/srv/checkout")), [], bad)
        for good in ["zk://host/work/x", "build/home/config", "$build/home/state", "/usr/share/java", "$HOME/.cache",
                     "/srv/checkouts", 'ZPath("/work/queue")']:
            self.assertEqual(list(lint.findings("README.md", good + "\n", {}.get, "/srv/checkout")), [], good)


class References(unittest.TestCase):
    BOOKS = {"docs/layouts.md": "# Wire layouts\n\n### Rules for Redis\n\n## Way of release\n"}

    def test_documents(self):
        for good in ["// See docs/layouts.md.", '// docs/layouts.md, "Way of release".', "# (docs/layouts.md)",
                     '// The rules of docs/layouts.md,\n// "Rules for Redis".', "[x](docs/layouts.md#rules-for-redis)",
                     "// docs/layouts.md says \"any word\"."]:
            self.assertEqual(found("core/base/x.cpp", good + "\n", self.BOOKS), [], good)
        for bad in ["// See docs/design.md.", "// See tests/design.md.", '// docs/layouts.md, "Nothing of that".', "-- docs/old/layouts.md",
                    '// The rules of docs/layouts.md,\n// "Rules for Redux".', "[x](docs/layouts.md#rules)"]:
            self.assertNotEqual(found("core/base/x.cpp", bad + "\n", self.BOOKS), [], bad)

    def test_links(self):
        for good in ["[a](layouts.md)", "[a](layouts.md#way-of-release)", "# Here\n[a](#here)", "[a](https://example.org/x.md)"]:
            self.assertEqual(found("docs/x.md", good + "\n", self.BOOKS), [], good)
        for bad in ["[a](design.md)", "[a](layouts.md#way-of-lease)", "# Here\n[a](#there)"]:
            self.assertNotEqual(found("docs/x.md", bad + "\n", self.BOOKS), [], bad)

    def test_what_was_never_here(self):
        for bad in ["// Exit statuses of the contract.", "// See the command-line contract.", "// Seed 003's: it is ours",
                    "// rules of the lock-layout reference, part E1", "// Redisson's scripts (reference B1, B2)",
                    "# the contract's list", "// part A6 of the reference"]:
            self.assertNotEqual(found("core/base/x.cpp", bad + "\n"), [], bad)
        for good in ["tests/contract/testcase.h", "namespace lockscope::contract {", "// const auto seed 42", "// a seed 0 is one, too",
                     "// by reference, not by value", "shop.contract"]:
            self.assertEqual(found("core/base/x.cpp", good + "\n"), [], good)

    def test_behaviours(self):
        suite, book = "tests/contract/tst_contract_x.cpp", "tests/behaviours.md"
        text = "    void A1_holds_data() {}\n    void A1_holds()\n"
        line = "Suite: tst_contract_x\n| A1 | It holds. | A1_holds |\n"
        self.assertEqual(found(suite, text, {book: line}), [])
        self.assertEqual(found(book, line, {suite: text}), [])
        self.assertNotEqual(found(suite, text, {book: "A2_holds"}), [])
        self.assertNotEqual(found(book, line, {suite: "void A1_waits()"}), [])


class Licence(unittest.TestCase):
    def test_where_it_stands(self):
        line = lint.LICENCE
        for path, before, after in [
                ("core/x.h", "// What.\n#pragma once\n", f"// {line}\n// What.\n#pragma once\n"),
                ("core/CMakeLists.txt", "add(x)\n", f"# {line}\nadd(x)\n"),
                ("cmake/x.cmake", "", f"# {line}\n"),
                ("resources/lua/x.lua", "-- What.\n", f"-- {line}\n-- What.\n"),
                ("tests/x.go", "package main\n", f"// {line}\npackage main\n"),
                ("run.sh", "#!/bin/sh\necho\n", f"#!/bin/sh\n# {line}\necho\n"),
                (".ci/run", "#!/usr/bin/env bash\n# All.\n", f"#!/usr/bin/env bash\n# {line}\n# All.\n"),
                ("README.md", "# Title\n", "# Title\n"), ("x.json", "{}\n", "{}\n"), ("installer/completion/x", "# bash\n", "# bash\n")]:
            self.assertEqual(lint.with_licence(path, before), after, path)
            self.assertEqual(lint.with_licence(path, after), after, path)
            self.assertEqual([*lint.check_licence(path, after)], [], path)
            self.assertEqual([*lint.check_licence(path, before)] == [], before == after, path)

    def test_fix(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in [("a.cpp", b"int a;\r\n"), ("b.txt", b"plain\n")]:
                with open(os.path.join(root, name), "wb") as file:
                    file.write(text)
            for _ in range(2):
                self.assertEqual(lint.fix(root), 0)
                with open(os.path.join(root, "a.cpp"), "rb") as file:
                    self.assertEqual(file.read(), f"// {lint.LICENCE}\nint a;\r\n".encode())
                with open(os.path.join(root, "b.txt"), "rb") as file:
                    self.assertEqual(file.read(), b"plain\n")


class Program(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "core"))
            for number in range(12):
                with open(os.path.join(root, "core", f"f{number}.cpp"), "w", encoding="utf-8") as file:
                    file.write(f"// {lint.LICENCE}\n" + (text if number == 7 else "int a;\n"))
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lint.py")
            return subprocess.run([sys.executable, "-B", script, root], capture_output=True, text=True, check=False)

    def test_status(self):
        self.assertEqual(self.run_on("int b;\n").returncode, 0)
        result = self.run_on("int b;\nvoid f() { if (co_await g()) h(); }\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("core/f7.cpp:3: co_await in a condition", result.stdout)

    def test_the_licence_is_asked_for(self):
        with tempfile.TemporaryDirectory() as root:
            for number in range(12):
                with open(os.path.join(root, f"f{number}.cpp"), "w", encoding="utf-8") as file:
                    file.write("int a;\n")
            self.assertEqual(lint.main(root), 1)
            lint.fix(root)
            self.assertEqual(lint.main(root), 0)

    def test_an_empty_folder_is_no_success(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(lint.main(root), 1)


class Prose(unittest.TestCase):
    def found(self, path, text):
        return [rule for rule, _, _ in prose.faults_of(path, text)]

    def test_strings(self):
        for good in ['u"the holder is unknown"_s', '// "it was told again"\nint a;', 'u"%1 was told"_s; // prose: ok (a quotation)',
                     '"SELECT somebody FROM x where"', '"told"', '"https://host.example/it was"', "'\"' + f(\"nobody\")"]:
            self.assertEqual(self.found("core/x.cpp", good + "\n"), [], good)
        for bad, rule in [('u"%1 was not told"_s', "is-said"), ('u"it lets "\n    "it go"_s', "let-go"), ('"give it back"', "give-back"),
                          ('"it takes it away"', "take-away"), ('"read it anew"', "anew"), ('"the last look says"', "look-again"),
                          ('"this is no lock"', "is-no"), ('"for somebody else"', "somebody"), ('"the node is gone"', "is-gone"),
                          ('"the simulated world"', "simulated-world"), ('"this is not now"', "banned"), ('"read it afresh"', "banned"),
                          (f'"{"many words " * 13}"', "long-sentence"), ('"; and a tail"', "fragment"), ('"ends with a colon: "', "fragment")]:
            self.assertEqual(self.found("ui/x.cpp", bad + ";\n"), [rule], bad)
        self.assertEqual(self.found("tests/unit/x.cpp", '"this is not now"'), [])
        self.assertEqual(self.found("resources/commands.json", '{"name": "not now", "summary": "read it anew"}'), ["anew"])
        self.assertEqual(self.found("resources/words/operate.json", '{"name": "not anew", "text": "read it anew", "about": "anew or so"}'), ["anew"])
        self.assertEqual([*prose.string_faults('\n\nf("and nobody\\n",\n  "b");')][0][1], 3)

    def test_documents(self):
        for good in ["`is told`", "    is told", "| " + "a " * 60 + "|", "a " * 80, "- " + "a " * 70 + "\n- " + "a " * 70, "no longer"]:
            self.assertEqual(self.found("docs/x.md", good + "\n"), [], good)
        for bad, rule in [("It is told.", "is-said"), ("Not now.", "banned"), ("| a | " + "a " * 61 + "|", "long-cell"),
                          ("a " * 81, "long-paragraph"), ("- " + ("a " * 41 + "\n  ") * 2, "long-paragraph")]:
            self.assertEqual(self.found("docs/x.md", bad + "\n"), [rule], bad)
        self.assertEqual(self.found("installer/man/x.1.in", "It is told.\n"), ["is-said"])

    def test_names_of_tests(self):
        def named(name):
            return self.found("tests/unit/tst_x.cpp", f"    void {name}()\n    {{}}\n")

        for good in ["staleTokenIsNotReleased", "offersTheLock", "whateverElse_data"]:
            self.assertEqual(named(good), [], good)
        for bad in ["whatHoldsHolds", "A12_whoWaits", "ofALostAnswer", "whetherItEnds"]:
            self.assertEqual(named(bad), ["test-name"], bad)
        self.assertEqual(named("a" * 46), ["long-test-name"])

    def test_baseline(self):
        key, places = ("ui/x.cpp", "anew"), [(1, "read anew"), (2, "made anew")]
        self.assertEqual([*prose.compare({key: places}, {key: 2})], [])
        self.assertNotEqual([*prose.compare({key: places}, {key: 1})], [])
        self.assertIn("--update", [*prose.compare({key: places}, {key: 3})][0])
        self.assertIn("--update", [*prose.compare({}, {key: 1})][0])
        banned = ("ui/x.cpp", "banned")
        self.assertNotEqual([*prose.compare({banned: places}, {banned: 2})], [])

    def test_update_lowers_only(self):
        with tempfile.TemporaryDirectory() as root:
            for folder in ("ui", "tests/lint"):
                os.makedirs(os.path.join(root, folder))

            def write(name, text):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)

            for number in range(12):
                write(f"ui/f{number}.h", "int a;\n")
            write("README.md", "Short.\n")
            write("ui/a.cpp", 'f("read anew");\ng("made anew");\n')
            self.assertEqual(prose.main(root), 1)
            self.assertEqual(prose.main(root, "--regenerate"), 0)
            write("ui/a.cpp", 'f("read anew");\n')
            self.assertEqual(prose.main(root), 1)
            self.assertEqual(prose.main(root, "--update"), 0)
            write("ui/a.cpp", 'f("read anew");\ng("made anew");\n')
            self.assertEqual(prose.main(root, "--update"), 1)
            self.assertEqual(prose.main(root), 1)
            write("ui/a.cpp", 'f("read anew");\n')
            self.assertEqual(prose.main(root), 0)
            write("README.md", "word " * 701)
            self.assertEqual(prose.main(root), 1)


class Manual(unittest.TestCase):
    def test_what_help_says_and_the_pages_lack(self):
        with tempfile.TemporaryDirectory() as above:
            root = os.path.join(above, "installer")
            os.mkdir(root)
            with open(os.path.join(above, "README.md"), "w", encoding="utf-8") as file:
                file.write("Locks in Here and There.")
            program = os.path.join(root, "prog")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\ncat <<'END'\nprog: the locks of Here and There, seen as locks\n  prog COMMAND [WORD]\na://b\nInspect go     away\n\nOptions\n  --help     this\n  --fast     now\nEND\n")
            os.chmod(program, 0o755)
            for folder in ("man", "completion"):
                os.mkdir(os.path.join(root, folder))

            def status(manual, completion):
                for path, text in [("man/prog.1.in", manual), ("completion/prog", completion)]:
                    with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                        file.write(text)
                return main_of_manual(root, [program])

            good = "go --help --fast of Here, There; a://x"
            self.assertEqual(status(good.replace("-", "\\-"), good), 0)
            for lacking in ["go", "--fast", "There", "a://"]:
                self.assertEqual(status(good.replace(lacking, ""), good), 1, lacking)
            self.assertEqual(status(good, "--help --fast"), 1)
            self.assertEqual(status(good, good + " --slow"), 1)


if __name__ == "__main__":
    unittest.main()
