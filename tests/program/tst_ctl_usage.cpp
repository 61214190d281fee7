// SPDX-License-Identifier: Apache-2.0
// lockscopectl without servers: what is wrong is one line on stderr and the right status.
#include "core/inspect/findings.h"
#include "tests/support/testmain.h"
#include "tests/support/ctlfixture.h"

#include <QRegularExpression>
#include <QTcpServer>
#include <QTcpSocket>

class TestCtlUsage : public QObject {
    Q_OBJECT
private slots:
    // Its counters are those of a run played for this answer.
    void aLessonIsToldAndProvenWithoutAWindow()
    {
        const auto all = run({u"lesson"_s, u"--json"_s}).json().value("lessons"_L1).toArray();
        QVERIFY(all.size() >= 16);
        const auto second = all.at(1).toObject(); // by its number in that list
        // The chapters of the course stand above their lessons, as in the window, and each once.
        const auto list = run({u"lesson"_s, u"--language"_s, u"ru"_s}).out;
        QVERIFY(list.indexOf("Зачем нужны блокировки") < list.indexOf("\n1\t"));
        for (const auto *chapter : {"Зачем нужны блокировки", "Базы данных SQL"})
            QCOMPARE(list.count(chapter), 1);
        QCOMPARE(list.count("\n\n"), 7); // six of them, and what can be done
        const auto same = run({u"lesson"_s, u"2"_s, u"--json"_s});
        QCOMPARE(same.json().value("lesson"_L1).toObject().value("id"_L1), second.value("id"_L1));
        const auto herd = run({u"lesson"_s, u"herd"_s, u"--json"_s});
        QVERIFY2(herd.status == 0, herd.what());
        const auto lesson = herd.json().value("lesson"_L1).toObject();
        const auto counters = lesson.value("runs"_L1).toArray().at(0).toObject().value("counters"_L1).toObject();
        QCOMPARE(counters.value("watchEvents"_L1).toInteger(), 45);
        QVERIFY(!counters.contains("events"_L1));
        QVERIFY(lesson.value("steps"_L1).toArray().at(0).toObject().value("atMs"_L1).isDouble());
        for (const auto &proof : lesson.value("proves"_L1).toArray())
            QVERIFY2(proof.toObject().value("holds"_L1).toBool(), herd.what());
        const auto told = run({u"lesson"_s, u"herd"_s, u"--language"_s, u"ru"_s});
        QVERIFY2(told.status == 0, told.what());
        QVERIFY2(told.out.contains("Один эфемерный узел") && told.out.contains("→ Всех"), told.what());
        QVERIFY2(told.out.contains("СЧЁТЧИК") && told.out.contains("выдачи"), told.what());
        QVERIFY2(!told.out.contains("wastedWakeups"), told.what());
        const auto counted = QString::fromUtf8(told.out.mid(told.out.indexOf("СЧЁТЧИК")));
        QVERIFY2(counted.contains(QRegularExpression(u"\\d,\\d"_s)), told.what());
        QVERIFY2(!counted.contains(QRegularExpression(u"\\d\\.\\d"_s)), told.what());
        QVERIFY2(told.out.contains("мс]") && !told.out.contains("ms]"), told.what()); // where a step ends, too
        const auto chinese = run({u"lesson"_s, u"herd"_s, u"--language"_s, u"zh"_s});
        QVERIFY2(chinese.status == 0 && chinese.out.contains("徒劳的唤醒"), chinese.what());
    }

    // Who gave up is in the table, and who broke it is called as its lane is.
    void aTableSaysWhoGaveUpAndWhoBelieves()
    {
        const auto ran = run(words("simulate --recipe zk-mutex --contenders 12 --wait 120ms --hold 50ms --shrink 0"));
        QVERIFY2(ran.status == 0 && ran.out.contains("GAVE UP"), ran.what());
        QVERIFY2(ran.out.contains("by the last reply to the contender\n  zk-mutex: "), ran.what());
        const auto none = run(words("simulate --recipe zk-mutex --contenders 3"));
        QVERIFY2(none.out.contains("GAVE UP") && !none.out.contains("the last reply to the contender"), none.what());
        const auto scenario = R"({"recipe":"sql-get-lock","contenders":12,"holdMs":500,)"
                              R"("planned":[{"fault":"expire","atUs":200000,"contender":0}]})";
        const auto broken =
            run({u"simulate"_s, u"--scenario"_s, QString::fromLatin1(scenario), u"--shrink"_s, u"0"_s});
        QVERIFY2(broken.out.contains("all believe they hold it: c00 (for 198 ms), c01 (for 0 ms)"), broken.what());
    }

    void errorIsOneLine_data()
    {
        addColumns<QStringList, int, QString>("arguments", "status", "says");
        const auto row = [](const char *line, int status, const char *says) {
            QTest::newRow(line) << words(line) << status << QString::fromUtf8(says);
        };
        row("frobnicate", 2, "unknown command");
        row("locks", 2, "needs a connection");
        row("locks --connect nonsense", 2, "not of the form [NAME=]SCHEME:");
        row("locks --connect consul://h", 2, "unknown scheme");
        row("locks --connect zk://h:99999", 2, "65535");
        row("locks extra --connect zk://h", 2, "unexpected argument");
        row("locks --jsn --connect zk://h", 2, "did you mean --json");
        row("locks --holder x --connect zk://h", 2, "unknown option --holder");
        row("locks --connect sim:7", 2, "this version cannot open it");
        row("locks --connect mariadb://h,i/db", 2, "one MariaDB server at a time");
        row("tree / --connect mariadb://h/db", 2, "no ZooKeeper connection");
        row("show --connect zk://h", 2, "show requires LOCK");
        row("show nocolon --connect zk://127.0.0.1:1", 2, "names no lock");
        row("show other:/x --connect zk://127.0.0.1:1", 2, "names no connection");
        row("tree zk:locks --connect zk://127.0.0.1:1", 2, "is not the path");
        row("tree / --depth x --connect zk://127.0.0.1:1", 2, "--depth must be a number");
        row("keys * --connect zk://127.0.0.1:1", 2, "there is no Redis connection");
        row("acquire zk:/a --connect zk://127.0.0.1:1", 2, "--recipe is required");
        row("acquire zk:/a --recipe zk-mutx --connect zk://127.0.0.1:1", 2, "unknown recipe");
        row("acquire zk:/a --recipe curator-leader --connect zk://127.0.0.1:1", 2, "only seen");
        row("acquire zk:/a --recipe zk-mutex --wait 3 --connect zk://127.0.0.1:1", 2, "is not a duration");
        row("acquire zk:/a --recipe zk-mutex --mode both --connect zk://127.0.0.1:1", 2, "read or write");
        row("acquire zk:/a --recipe zk-mutex --limit 0 --connect zk://127.0.0.1:1", 2, "1 or more");
        row("acquire zk:/a --recipe zk-mutex --connect zk://127.0.0.1:1 --", 2, "no command after --");
        row("acquire zk:/a --recipe zk-mutex --hold 1s --connect zk://127.0.0.1:1 -- true", 2, "exclude each other");
        row("locks --connect zk://127.0.0.1:1 -- true", 2, "takes no command");
        row("force-release zk:/a --connect zk://127.0.0.1:1", 2, "--holder ID");
        row("sandbox --redis many", 2, "requires a number");
        row("sandbox --zk 0", 2, "a number of members");
        row("--zk 10 sandbox", 2, "a number of members");
        row("--zk=x sandbox", 2, "a number of members");
        row("simulate --contenders 3", 2, "--recipe is required");
        row("simulate --recipe zk-mutex", 2, "--contenders N");
        row("simulate --recipe zk-mutex --contenders none", 2, "whole number");
        row("simulate --recipe zk-election --contenders 3", 2, "seen but not acquired");
        row("simulate --recipe zk-mutex --contenders 3 --fault rain", 2, "lost-publish");
        row("simulate --recipe zk-mutex --contenders 3 --fault failover", 2, "is not simulated for");
        row("lesson 99", 2, "unknown lesson \"99\"");
        row("lesson herd --language xx", 2, "--language is en, zh_CN or ru");
        row("record", 2, "record needs a connection");
        row("record file", 2, "record needs a connection");
        row("replay file", 2, "replay requires FILE|DIR COMMAND");
        row("replay /nowhere/file locks", 2, "/nowhere/file cannot be read");
        row("replay /nowhere/file acquire", 2,
            "not answered from a recording, which is read-only; locks, show, sessions, findings, graph, note are");
        row("replay /nowhere/file force-release zk:/a --holder x --yes", 2,
            "\"force-release\" is not answered from a recording, which is read-only; locks, show, sessions,");
        row("replay /nowhere/file rehearse zk:/a --holder x", 2, "\"rehearse\" is not answered from a recording");
        row("replay /nowhere/file locks --holder x", 2, "locks knows no --holder");
        row("replay /nowhere/file locks --nonsense", 2, "unknown option");
        row("locks --production other --connect zk://127.0.0.1:1", 2, "names no connection");
        // Nobody listens on port 1.
        row("locks --connect zk://127.0.0.1:1", 3, "could not connect to zk://127.0.0.1:1: Connection refused");
        row("locks --connect redis://127.0.0.1:1", 3, "Connection refused");
        row("locks --connect mariadb://127.0.0.1:1", 3, "could not connect to mariadb://127.0.0.1:1");
        row("show redis:x --connect redis://127.0.0.1:1", 3, "Connection refused");
        row("acquire zk:/a --recipe zk-mutex --connect zk://127.0.0.1:1", 3, "Connection refused");
        row("force-release zk:/a --holder x --yes --connect zk://127.0.0.1:1", 3, "Connection refused");
        row("tree / --connect zk://127.0.0.1:1", 3, "Connection refused");
        row("keys * --connect redis://127.0.0.1:1", 3, "Connection refused");
    }
    void errorIsOneLine()
    {
        QFETCH(QStringList, arguments);
        QFETCH(int, status);
        QFETCH(QString, says);
        for (const bool json : {false, true}) {
            auto given = arguments;
            if (json)
                given.prepend(u"--json"_s);
            const auto ran = run(given);
            QVERIFY2(ran.status == status, ran.what());
            QVERIFY2(ran.err.contains(says.toUtf8()) && ran.err.startsWith("lockscopectl: "), ran.what());
            QVERIFY2(ran.err.count('\n') == 1, ran.what());
            QVERIFY2(ran.out.isEmpty(), ran.what());
        }
    }

    // A server that says why nobody comes in is up, and its words are not followed by that question.
    void adviceIsForWhomNobodyAnswers()
    {
        const QByteArray advice("; is the server up, and are host and port right?");
        const auto silent = run({u"locks"_s, u"--connect"_s, u"redis://127.0.0.1:1"_s});
        QVERIFY2(silent.err.contains("Connection refused" + advice), silent.what());

        QTcpServer full;
        QVERIFY(full.listen(QHostAddress::LocalHost));
        connect(&full, &QTcpServer::newConnection, this, [&full] {
            auto *caller = full.nextPendingConnection();
            caller->write("-ERR max number of clients reached\r\n");
            caller->disconnectFromHost();
        });
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL),
                  {u"locks"_s, u"--connect"_s, u"redis://127.0.0.1:%1"_s.arg(full.serverPort())});
        QTRY_COMPARE_WITH_TIMEOUT(ctl.state(), QProcess::NotRunning, patienceMs);
        const auto said = ctl.readAllStandardError();
        QCOMPARE(ctl.exitCode(), 3);
        QVERIFY2(said.contains("max number of clients reached\n") && !said.contains(advice), said);
    }

    void helpAndVersion()
    {
        const auto help = run({u"--help"_s});
        QCOMPARE(help.status, 0);
        QVERIFY(help.err.isEmpty());
        for (
            const auto &command : words(
                "locks show sessions findings note metrics mcp tree keys recipes acquire force-release simulate sandbox record "
                "replay audit"))
            QVERIFY2(help.out.contains(' ' + command.toUtf8() + "  "), help.what());
        QVERIFY2(help.out.count('\n') <= 24, help.what()); // a terminal's height
        QCOMPARE(run({u"--version"_s}).out.trimmed(), QByteArray("lockscopectl " LOCKSCOPE_VERSION));
    }

    void everyCommandHasHelp_data()
    {
        const Rows<QString> row("command");
        for (
            const auto &command : words(
                "locks show sessions findings graph note metrics mcp tree keys recipes acquire force-release rehearse simulate "
                "lesson sandbox record replay audit test recognise"))
            row(qPrintable(command), command);
    }
    void everyCommandHasHelp()
    {
        QFETCH(QString, command);
        const auto help = run({command, u"--help"_s});
        QCOMPARE(help.status, 0);
        QVERIFY2(help.out.startsWith("lockscopectl " + command.toUtf8()), help.what());
        QVERIFY2(help.out.contains("\nCommon options (--connect"), help.what());
        // A terminal shows an option in a line.
        const auto text = QString::fromUtf8(help.out);
        const auto begin = text.indexOf(u"\nOptions\n"_s);
        if (begin < 0)
            return;
        const auto options = text.mid(begin + 9, text.indexOf(u"\n\n"_s, begin + 9) - begin - 9).split(u'\n');
        for (const auto &line : options)
            QVERIFY2(line.startsWith("  --"_L1) && line.size() <= 80, qPrintable(line));
    }

    void helpTopicsPrintTheCommonTexts()
    {
        const auto options = run({u"help"_s, u"options"_s});
        QVERIFY2(options.status == 0 && options.out.contains("\n  --connect [NAME=]URI"), options.what());
        QVERIFY2(options.out.contains("\n  --json "), options.what());
        const auto connections = run({u"help"_s, u"connections"_s});
        for (const auto *scheme : {"zk://", "redis+sentinel://", "mariadb://", "etcd://", "postgresql://"})
            QVERIFY2(connections.out.contains(QByteArray("\n  ") + scheme), connections.what());
        QVERIFY2(run({u"help"_s, u"names"_s}).out.contains("mariadb:GET_LOCK#name"), "names");
        QCOMPARE(run({u"help"_s, u"locks"_s}).out, run({u"locks"_s, u"--help"_s}).out);
        QCOMPARE(run({u"help"_s}).out, run({u"--help"_s}).out);
        const auto unknown = run({u"help"_s, u"locksmith"_s});
        QVERIFY2(unknown.status == 2 && unknown.err.contains("topics are options, connections, names"),
                 unknown.what());
    }

    void helpOnFindingsNamesEveryCode()
    {
        const auto help = run({u"findings"_s, u"--help"_s});
        for (const auto &kind : inspect::findingKinds())
            QVERIFY2(help.out.contains(QByteArray("\n  ") + kind.name + ' '), kind.name);
    }

    void everyDocumentedRecipeIsListed()
    {
        const auto ran = run({u"recipes"_s, u"--json"_s});
        QCOMPARE(ran.status, 0);
        const auto json = ran.json();
        QCOMPARE(json.value("schema"_L1).toString(), u"lockscope/1"_s);
        QStringList ids;
        for (const auto &entry : json.value("recipes"_L1).toArray()) {
            const auto recipe = entry.toObject();
            ids << recipe.value("id"_L1).toString();
            for (const auto &field :
                 words("id backend acquirable fair reentrant teachingOnly requests wakeupsPerRelease flaws"))
                QVERIFY2(recipe.contains(field), qPrintable(ids.last() + u' ' + field));
            QCOMPARE(fields(recipe.value("requests"_L1).toObject()), words("acquireFree acquireQueued release"));
            QVERIFY(recipe.value("flaws"_L1).isArray());
        }
        for (
            const auto &id : words(
                "zk-ephemeral zk-herd-mutex zk-mutex zk-eager-mutex zk-flat-mutex zk-shared-herd zk-shared "
                "zk-election zk-lease curator-mutex curator-semaphore-mutex curator-rwlock "
                "curator-semaphore curator-leader zookeeper-recipe-lock kazoo-lock kazoo-rwlock "
                "kazoo-semaphore redis-setnx-expire redis-getset redis-set-nx redlock redisson-lock "
                "redisson-fair-lock redisson-rwlock redisson-fenced-lock redisson-semaphore "
                "sql-for-update sql-version sql-get-lock sql-insert-mark sql-status-flag pg-advisory pg-for-update pg-skip-locked pg-table"))
            QVERIFY2(ids.contains(id), qPrintable(id));
    }

    // The table that the tests of the seeds use: additions to an answer that is otherwise the same.
    void recipesSayWhatHoldsUnderWhichFault()
    {
        QVERIFY(!run({u"recipes"_s, u"--json"_s}).out.contains("\"promises\":"));
        const auto promised = [](const QStringList &more, const QString &recipe, const QString &fault,
                                 const QString &invariant) {
            for (const auto &entry : run(QStringList{u"recipes"_s, u"--faults"_s, u"--json"_s} + more)
                                         .json()
                                         .value("recipes"_L1)
                                         .toArray()) {
                for (const auto &promise : entry.toObject().value("promises"_L1).toArray()) {
                    const auto one = promise.toObject();
                    if (entry.toObject().value("id"_L1) == recipe && one.value("fault"_L1) == fault
                        && one.value("invariant"_L1) == invariant)
                        return one;
                }
            }
            return QJsonObject();
        };
        const auto broken = promised({}, u"redis-set-nx"_s, u"restart-empty"_s, u"exclusion"_s);
        QCOMPARE(broken.value("holds"_L1).toBool(true), false);
        QVERIFY(broken.value("because"_L1).toString().contains(u"lost with the data"_s));
        QVERIFY(promised({}, u"zk-mutex"_s, u"crash"_s, u"exclusion"_s).value("holds"_L1).toBool());
        QVERIFY(!promised({}, u"zk-mutex"_s, u"pause"_s, u"effect"_s).value("holds"_L1).toBool(true));
        QVERIFY(promised({u"--fencing"_s}, u"zk-mutex"_s, u"pause"_s, u"effect"_s).value("holds"_L1).toBool());
        const auto text = run({u"recipes"_s, u"--faults"_s});
        QCOMPARE(text.status, 0);
        QVERIFY2(text.out.contains("Every other guarantee holds") && text.out.contains("replica that took over"),
                 text.what());
        QCOMPARE(run({u"recipes"_s, u"--fencing"_s}).status, 2);
    }

    void aPasswordInTheWrongPlaceIsNotSaidAgain_data()
    {
        const Rows<QStringList> row("arguments");
        const auto uri = u"mariadb://root:hunter2@127.0.0.1:1/shop"_s;
        row("no option", {u"locks"_s, uri});
        row("as a command", {uri});
        row("as a lock", {u"--connect"_s, u"redis://127.0.0.1:1"_s, u"show"_s, uri});
        row("as another option", {u"locks"_s, u"--production"_s, uri, u"--connect"_s, u"zk://h"_s});
        row("a scheme unknown", {u"locks"_s, u"--connect"_s, u"mysqlx://root:hunter2@127.0.0.1:1"_s});
        row("beside ssh", {u"locks"_s, u"--connect"_s, u"mysqlx://root:h?&@:hunter2@127.0.0.1:1?ssh=me@jump:22"_s});
    }
    void aPasswordInTheWrongPlaceIsNotSaidAgain()
    {
        QFETCH(QStringList, arguments);
        const auto ran = run(arguments);
        QVERIFY2(ran.status == 2 && !(ran.out + ran.err).contains("hunter2"), ran.what());
    }

    void errorNamesTheSshUser()
    {
        const auto ran = run({u"locks"_s, u"--connect"_s, u"redis://127.0.0.1:1?ssh=me@127.0.0.1:1"_s});
        QVERIFY2(ran.status == 3 && ran.err.contains("redis://127.0.0.1:1?ssh=me@127.0.0.1:1: "), ran.what());
    }

    void anEmptyAuditIsNoError()
    {
        const QTemporaryDir state;
        const auto ran = run({u"audit"_s, u"--json"_s}, {{u"XDG_STATE_HOME"_s, state.path()}});
        QCOMPARE(ran.status, 0);
        QCOMPARE(fields(ran.json()), words("records schema"));
        QVERIFY(ran.json().value("records"_L1).toArray().isEmpty());
    }

    void aServerThatNeverAnswersIsNotWaitedForForever()
    {
        QTcpServer silent;
        QVERIFY(silent.listen(QHostAddress::LocalHost));
        const auto uri = u"redis://127.0.0.1:%1"_s.arg(silent.serverPort());
        const auto ran = run({u"show"_s, u"redis:x"_s, u"--connect"_s, uri});
        QVERIFY2(ran.status == 3 || ran.status == 1, ran.what());
        QVERIFY2(ran.err.count('\n') == 1, ran.what());
    }
};

LOCKSCOPE_TEST(TestCtlUsage)
#include "tst_ctl_usage.moc"
