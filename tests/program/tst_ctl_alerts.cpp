// SPDX-License-Identifier: Apache-2.0
// findings as a check: the status by severity, findings that last, what begins and ends, and the program of --exec.
#include "core/redis/client.h"
#include "core/workspace/mutes.h"
#include "tests/live/namedsql.h"
#include "tests/live/psql.h"
#include "tests/support/ctlfixture.h"
#include "tests/support/testmain.h"

#include <QStandardPaths>

#include <array>

namespace {

// A server with a lock that no release frees, and the clients that make it so. The server ends first: it ends what
// they wait for.
struct StuckLock {
    std::vector<std::unique_ptr<NamedSql>> sqlClients;
    std::vector<std::unique_ptr<Psql>> psqlClients;
    std::unique_ptr<sandbox::Server> server;
    QString uri;   // none where it cannot be tried here
    QString cause; // why not
};

// Two transactions that lock two rows in opposite orders, on a server that does not search for deadlocks.
StuckLock stuckInMariaDb()
{
    StuckLock stuck;
    stuck.cause = startInto(stuck.server, sandbox::makeMariaDb());
    if (!stuck.server)
        return stuck;
    const auto port = stuck.server->address().port;
    for (const auto *name : {"billing-1", "billing-2"})
        stuck.sqlClients.push_back(std::make_unique<NamedSql>(port, name));
    auto &one = *stuck.sqlClients.front(), &other = *stuck.sqlClients.back();
    if (!one.isConnected() || !other.isConnected()) {
        stuck.cause = u"the C client's library is not here"_s;
        return stuck;
    }
    one.run("SET GLOBAL innodb_deadlock_detect = OFF");
    for (auto *client : {&one, &other})
        client->run("SET innodb_lock_wait_timeout = 600");
    const QByteArray row = "SELECT * FROM stock WHERE id = %1 FOR UPDATE";
    const auto lockRow = [&row](char id) { return QByteArray(row).replace("%1", QByteArray(1, id)); };
    if (one.run("START TRANSACTION") && one.run(lockRow('1')) && other.run("START TRANSACTION")
        && other.run(lockRow('2')))
        stuck.uri = u"mariadb://root@127.0.0.1:%1/shop"_s.arg(port);
    one.begin(lockRow('2'));
    other.begin(lockRow('1'));
    return stuck;
}

// Two sessions that take two advisory locks in opposite orders, on a server that searches for deadlocks too late.
StuckLock stuckInPostgreSql()
{
    StuckLock stuck;
    if (QStandardPaths::findExecutable(u"psql"_s).isEmpty()) {
        stuck.cause = u"psql is not installed"_s;
        return stuck;
    }
    stuck.cause = startInto(stuck.server, sandbox::makePostgreSql(nullptr, {"deadlock_timeout=10min"}));
    if (!stuck.server)
        return stuck;
    stuck.uri = u"postgresql://shop@127.0.0.1:%1/shop"_s.arg(stuck.server->address().port);
    for (int i = 0; i < 2; ++i)
        stuck.psqlClients.push_back(std::make_unique<Psql>(stuck.uri));
    stuck.psqlClients[0]->ask("SELECT pg_advisory_lock(1);");
    stuck.psqlClients[1]->ask("SELECT pg_advisory_lock(2);");
    stuck.psqlClients[0]->send("SELECT pg_advisory_lock(2);");
    stuck.psqlClients[1]->send("SELECT pg_advisory_lock(1);");
    return stuck;
}

// Two leases, each first in the queue of one mutex and second in that of the other.
StuckLock stuckInEtcd()
{
    StuckLock stuck;
    stuck.cause = startInto(stuck.server, sandbox::makeEtcd());
    if (QStandardPaths::findExecutable(u"etcdctl"_s).isEmpty())
        stuck.cause = u"etcdctl is not installed"_s;
    if (!stuck.server || !stuck.cause.isEmpty())
        return stuck;
    const auto port = stuck.server->address().port;
    const auto ask = [port](const QStringList &words) {
        QProcess process;
        auto variables = QProcessEnvironment::systemEnvironment();
        variables.insert(u"ETCDCTL_API"_s, u"3"_s);
        process.setProcessEnvironment(variables);
        process.start(u"etcdctl"_s, QStringList{u"--endpoints=127.0.0.1:%1"_s.arg(port)} + words);
        process.waitForFinished(patienceMs);
        return QString::fromUtf8(process.readAllStandardOutput());
    };
    QStringList leases;
    for (int i = 0; i < 2; ++i)
        leases << ask({u"lease"_s, u"grant"_s, u"600"_s}).section(u' ', 1, 1); // "lease ID granted with TTL(600s)"
    for (const auto &[lock, lease] : {std::pair{u"a"_s, 0}, {u"b"_s, 1}, {u"a"_s, 1}, {u"b"_s, 0}})
        ask({u"put"_s, u"--lease="_s + leases[lease], lock + u'/' + leases[lease], u""_s});
    stuck.uri = u"etcd://127.0.0.1:%1"_s.arg(port);
    return stuck;
}

} // namespace

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

    void aStuckLockFailsIsCountedAndPassedOnce_data()
    {
        const Rows<QByteArray, QString> row("backend", "code");
        row("Redis", "redis", u"no-ttl"_s);
        row("ZooKeeper", "zookeeper", u"deadlock"_s);
        row("MariaDB", "mariadb", u"deadlock"_s);
        row("PostgreSQL", "postgresql", u"deadlock"_s);
        row("etcd", "etcd", u"deadlock"_s);
    }
    void aStuckLockFailsIsCountedAndPassedOnce()
    {
        QFETCH(const QByteArray, backend);
        QFETCH(const QString, code);
        auto stuck = backend == "mariadb"      ? stuckInMariaDb()
                     : backend == "postgresql" ? stuckInPostgreSql()
                     : backend == "etcd"       ? stuckInEtcd()
                                               : StuckLock();
        std::unique_ptr<zk::Session> second;
        std::array<zk::Watch, 2> watches{zk::Watch(m_servers.loop), zk::Watch(m_servers.loop)};
        if (backend == "redis") {
            takeForEver("orders-lock");
            stuck.uri = m_servers.redisUri();
        } else if (backend == "zookeeper") { // each session is first in one queue and second in the other
            second = zk::openSession(m_servers.loop, {.hosts = {m_servers.zooKeeper->address()}});
            QVERIFY(waitForState(*second, zk::SessionState::Connected));
            QVERIFY(m_servers.put("/alice") && m_servers.put("/bob"));
            const auto queue = [&](zk::Session &session, const QByteArray &lock, char client) {
                const ZPath path(lock + '/' + QByteArray(32, client) + "__lock__");
                auto creating = session.create(path, QByteArray(1, client), zk::CreateMode::EphemeralSequential,
                                               zk::openAcl(), m_servers.soon());
                const auto created = await(creating);
                return created ? created->path : ZPath("/");
            };
            const auto alice = queue(*m_servers.session, "/alice", 'a');
            const auto bob = queue(*second, "/bob", 'b');
            queue(*second, "/alice", 'b');
            queue(*m_servers.session, "/bob", 'a');
            QVERIFY(await(second->get(alice, watches[0], m_servers.soon())));
            QVERIFY(await(m_servers.session->get(bob, watches[1], m_servers.soon())));
            stuck.uri = m_servers.zk();
        }
        if (stuck.uri.isEmpty())
            QSKIP(qPrintable(stuck.cause));
        const QStringList connect{u"--connect"_s, u"it="_s + stuck.uri};
        const auto program = script("#!/bin/sh\ncat >> \"$(dirname \"$0\")/told.json\"\n");
        const QStringList check{u"findings"_s, u"--fail-on"_s, u"critical"_s, u"--for"_s, u"2s"_s};
        QTRY_COMPARE_WITH_TIMEOUT(testing::run(connect + check.first(3)).status, 11, testing::patienceMs);
        const auto ran = testing::run(connect + check + QStringList{u"--exec"_s, program});
        QVERIFY2(ran.status == 11, ran.what());
        QCOMPARE(told().size(), 1);
        const auto began = told().first()["began"_L1].toArray();
        QVERIFY2(began.size() == 1 && began.first()["code"_L1].toString() == code, ran.what());
        QCOMPARE(began.first()["severity"_L1].toString(), u"critical"_s);
        const auto metrics = testing::run(connect + QStringList{u"metrics"_s});
        const auto series = "lockscope_findings{code=\"" + code.toUtf8() + "\",severity=\"critical\"} 1\n";
        QVERIFY2(metrics.status == 0 && metrics.out.contains(series), metrics.what());
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
