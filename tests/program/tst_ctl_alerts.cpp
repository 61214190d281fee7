// SPDX-License-Identifier: Apache-2.0
// findings as a check: the status by severity, findings that last, what begins and ends, and the program of --exec.
#include "core/redis/client.h"
#include "core/workspace/mutes.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

class TestCtlAlerts : public QObject {
    Q_OBJECT

    Servers m_servers;
    QTemporaryDir m_folder;
    std::unique_ptr<redis::Connection> m_client;

    static constexpr auto token = "b0f1c2d3e4a5968778695a4b3c2d1e0f";

    Ran findings(const QStringList &options) const { return m_servers.run(QStringList{u"findings"_s} + options); }
    void run(const QByteArrayList &command) { QVERIFY(await(m_client->command(command, m_servers.soon()))); }
    // A lock without expiry, which is critical.
    void takeForEver(const QByteArray &name) { run({"SET", name, token}); }
    QJsonObject nextEvent(Ctl &watch, const QString &event)
    {
        for (int i = 0; i < 50; ++i) {
            const auto line = watch.jsonLine();
            if (line.isEmpty() || line["event"_L1] == event)
                return line;
        }
        return {};
    }
    QString script(const QByteArray &text)
    {
        QFile file(m_folder.filePath(u"told.sh"_s));
        if (!file.open(QFile::WriteOnly) || file.write(text) < 0)
            return {};
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return file.fileName();
    }
    QList<QJsonObject> told() const
    {
        QFile file(m_folder.filePath(u"told.json"_s));
        QList<QJsonObject> all;
        if (file.open(QFile::ReadOnly)) {
            for (const auto &line : file.readAll().split('\n'))
                if (!line.isEmpty())
                    all << QJsonDocument::fromJson(line).object();
        }
        return all;
    }

private slots:
    void initTestCase()
    {
        SKIP_FOR(m_servers.start());
        m_client = redis::openConnection(m_servers.loop, {.host = m_servers.redis->address()});
        QTRY_COMPARE(m_client->state(), redis::ConnectionState::Connected);
    }
    void cleanupTestCase()
    {
        m_client.reset();
        m_servers.stop();
    }
    void init()
    {
        run({"FLUSHALL"});
        QFile::remove(m_folder.filePath(u"told.json"_s));
    }

    void theStatusIsTheWorstFinding_data()
    {
        const Rows<bool, QStringList, int> row("isStuck", "options", "status");
        row("healthy", false, {u"--fail-on"_s, u"warning"_s}, 0);
        row("critical", true, {u"--fail-on"_s, u"critical"_s}, 11);
        row("critical, and warnings count", true, {u"--fail-on"_s, u"warning"_s}, 11);
        row("lasts", true, {u"--fail-on"_s, u"critical"_s, u"--for"_s, u"2s"_s}, 11);
        row("of another lock", true, {u"--fail-on"_s, u"critical"_s, u"--match"_s, u"redis:other*"_s}, 0);
        row("of this lock", true, {u"--fail-on"_s, u"critical"_s, u"--match"_s, u"orders-*"_s}, 11);
        row("without --fail-on", true, {}, 0);
    }
    void theStatusIsTheWorstFinding()
    {
        QFETCH(const bool, isStuck);
        QFETCH(const QStringList, options);
        if (isStuck)
            takeForEver("orders-lock");
        else
            run({"SET", "orders-lock", token, "PX", "60000"});
        const auto ran = findings(options);
        QTEST(ran.status, "status");
    }

    // A check that cannot look says so, and not that all is well.
    void anUnreadServerIsUnknown()
    {
        const auto ran =
            testing::run({u"--connect"_s, u"redis://127.0.0.1:1"_s, u"findings"_s, u"--fail-on"_s, u"critical"_s});
        QCOMPARE(ran.status, 12);
        QVERIFY2(!ran.out.contains("no problems found"), ran.what());
    }

    // Held for ever by one client after another, none of them for long: no hold lasts.
    void aFindingThatEndsInTimeDoesNotCount()
    {
        takeForEver("orders-lock");
        Ctl check(m_servers.connect()
                  + QStringList{u"findings"_s, u"--fail-on"_s, u"critical"_s, u"--for"_s, u"6s"_s, u"--json"_s});
        Ctl watch(m_servers.connect() + QStringList{u"findings"_s, u"--watch"_s, u"--for"_s, u"1s"_s});
        QVERIFY(!nextEvent(watch, u"began"_s).isEmpty()); // by now the check has seen it, too
        run({"DEL", "orders-lock"});
        const auto ran = check.finish();
        QVERIFY2(ran.status == 0, ran.what());
        QCOMPARE(ran.json()["findings"_L1].toArray().size(), 0);
    }

    void mutedFindingsFailNothing()
    {
        QTemporaryDir config;
        qputenv("XDG_CONFIG_HOME", config.path().toUtf8());
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) - 1s;
        QVERIFY(MuteStore(config.filePath(u"lockscope/mutes.json"_s))
                    .add({u"redis:orders-lock"_s, {}, {}, u"OPS-7: a migration"_s, now, now + 1h}));
        takeForEver("orders-lock");
        QCOMPARE(findings({u"--fail-on"_s, u"critical"_s}).status, 0);
        takeForEver("stock-lock");
        QCOMPARE(findings({u"--fail-on"_s, u"critical"_s}).status, 11);
        qunsetenv("XDG_CONFIG_HOME");
    }

    void badOptionsAreRefused_data()
    {
        const Rows<QStringList, QByteArray> row("options", "message");
        row("level", {u"--fail-on"_s, u"info"_s}, "--fail-on takes warning or critical");
        row("duration", {u"--for"_s, u"soon"_s}, "soon");
        row("program without an occasion", {u"--exec"_s, u"true"_s}, "--exec needs --watch or --fail-on");
    }
    void badOptionsAreRefused()
    {
        QFETCH(const QStringList, options);
        QFETCH(const QByteArray, message);
        const auto ran = findings(options);
        QCOMPARE(ran.status, 2);
        QVERIFY2(ran.err.contains(message), ran.what());
    }

    void beginningsAndEndsAreLinesAndCalls()
    {
        const auto program = script("#!/bin/sh\ncat >> \"$(dirname \"$0\")/told.json\"\n");
        Ctl watch(m_servers.connect()
                  + QStringList{u"findings"_s, u"--watch"_s, u"--for"_s, u"1s"_s, u"--exec"_s, program});
        takeForEver("orders-lock");
        const auto began = nextEvent(watch, u"began"_s);
        QCOMPARE(began["finding"_L1]["code"_L1].toString(), u"no-ttl"_s);
        QTRY_COMPARE_WITH_TIMEOUT(told().size(), 1, testing::patienceMs);
        QCOMPARE(told().first()["began"_L1].toArray().first()["code"_L1].toString(), u"no-ttl"_s);
        run({"DEL", "orders-lock"});
        const auto ended = nextEvent(watch, u"ended"_s);
        QCOMPARE(ended["finding"_L1]["locks"_L1].toArray().first().toString(), u"redis:orders-lock"_s);
        QTRY_COMPARE_WITH_TIMEOUT(told().size(), 2, testing::patienceMs); // not before 10 s after the first
        QCOMPARE(told().last()["ended"_L1].toArray().size(), 1);
        watch.signal(SIGINT);
        QCOMPARE(watch.finish().status, 0);
    }

    // Names of servers are hostile: they are data on stdin, and in no command line.
    void theProgramGetsNamesOnStdinOnly()
    {
        const auto program = script("#!/bin/sh\ncat >> \"$(dirname \"$0\")/told.json\"\necho \"$# $*\" >&2\n");
        takeForEver("orders-lock;$(touch pwned)'\"-lock");
        const auto ran = findings({u"--fail-on"_s, u"critical"_s, u"--exec"_s, program + u" once"_s});
        QCOMPARE(ran.status, 11);
        QVERIFY2(ran.err.contains("1 once\n"), ran.what());
        QCOMPARE(told().size(), 1);
        QVERIFY(!QFile::exists(u"pwned"_s));
    }

    // Locks that clients take and release in time begin nothing.
    void healthyChurnBeginsNothing()
    {
        Ctl watch(m_servers.connect() + QStringList{u"findings"_s, u"--watch"_s, u"--for"_s, u"1s"_s});
        for (int i = 0; i < 40; ++i) {
            run({"SET", "orders-lock", QByteArray(token).replace('b', char('0' + i % 10)), "PX", "5000", "NX"});
            run({"WAIT", "1", "50"}); // no replica comes: it is held for 50 ms
            run({"DEL", "orders-lock"});
        }
        takeForEver("last-lock"); // the marker
        const auto first = nextEvent(watch, u"began"_s);
        QVERIFY2(first["finding"_L1]["locks"_L1].toArray().first().toString() == u"redis:last-lock"_s,
                 QJsonDocument(first).toJson());
    }
};

LOCKSCOPE_TEST(TestCtlAlerts)
#include "tst_ctl_alerts.moc"
