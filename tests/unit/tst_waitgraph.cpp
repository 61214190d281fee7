// SPDX-License-Identifier: Apache-2.0
// The wait-for graph as tables: locks as lines of text in, roots and cycles out.
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/json.h"
#include "core/inspect/waits/waitgraph.h"
#include "tests/support/testmain.h"
#include "tests/unit/drawnlocks.h"

#include <QJsonArray>

using namespace lockscope::inspect;
using namespace lockscope::inspect::drawing;

namespace {

// "zk:A 1/2" for a root; "zk:A zk:B" for a cycle, by their names in alphabetical order.
QStringList rootWords(const WaitGraph &graph)
{
    QStringList all;
    for (const auto &root : graph.roots)
        all << u"%1 %2/%3"_s.arg(QString::fromUtf8(graph.clients[size_t(root.client)].id))
                   .arg(root.direct)
                   .arg(root.total);
    return all;
}

QStringList cycleWords(const WaitGraph &graph)
{
    QStringList all;
    for (const auto &cycle : graph.cycles) {
        QStringList names;
        for (const int client : cycle.clients)
            names << QString::fromUtf8(graph.clients[size_t(client)].id);
        names.sort();
        all << names.join(u' ');
    }
    all.sort();
    return all;
}

const QString redissonA = u"11111111-1111-4111-8111-111111111111"_s;
const QString redissonB = u"22222222-2222-4222-8222-222222222222"_s;

} // namespace

class TestWaitGraph : public QObject {
    Q_OBJECT
private slots:
    void roots_data()
    {
        const Rows<QString, QStringList> row("picture", "roots");
        row("nobody waits", u"zk:/a kazoo-lock: A |"_s, {});
        row("each in a queue waits for the one before", u"zk:/a kazoo-lock: A | B C D"_s, {u"zk:A 1/3"_s});
        row("who polls waits for the holder", u"redis:a redisson-lock: %1:1 | s1 s2"_s.arg(redissonA),
            {u"redis:%1 2/2"_s.arg(redissonA)});
        row("across locks", u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B | C D"_s, {u"zk:A 1/3"_s});
        row("readers before a writer hold it up together", u"zk:/a curator-rwlock: A.r B.r | C"_s,
            {u"zk:A 1/1"_s, u"zk:B 1/1"_s});
        row("a queued writer is in readers' way", u"zk:/a curator-rwlock: A.r | B C.r D.r"_s, {u"zk:A 1/3"_s});
        row("any permit will do", u"zk:/a curator-semaphore: A.p B.p | C.p D.p"_s, {u"zk:A 1/2"_s, u"zk:B 1/2"_s});
        row("a session that waits for what it holds can let go", u"zk:/a kazoo-lock: A | B A C"_s, {u"zk:A 2/2"_s});
        row("who waits elsewhere cannot", u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: C | A"_s, {u"zk:C 1/2"_s});
        row("who holds up most comes first", u"zk:/a kazoo-lock: A | B\nzk:/c kazoo-lock: C | D E"_s,
            {u"zk:C 1/2"_s, u"zk:A 1/1"_s});
    }
    void roots()
    {
        QFETCH(QString, picture);
        QTEST(rootWords(waitGraphOf(drawnLocks(picture), {}, pictureTime)), "roots");
    }

    void waitingIsSummedUp()
    {
        const auto graph = waitGraphOf(drawnLocks(u"zk:/a kazoo-lock: A=99 | B=30 C=12"_s), {}, pictureTime);
        QCOMPARE(graph.roots.front().waiting, std::chrono::milliseconds(42s));
    }

    void cycles_data()
    {
        addColumns<QString, QString, QStringList>("picture", "labels", "cycles");
        const auto row = [](const char *name, const QString &picture, const QStringList &cycles = {},
                            const QString &labels = {}) { QTest::newRow(name) << picture << labels << cycles; };
        const QString two = u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B | A"_s;
        row("two over two", two, {u"zk:A zk:B"_s});
        row("a third waits behind", u"zk:/a kazoo-lock: A | B C\nzk:/b kazoo-lock: B | A"_s, {u"zk:A zk:B"_s});
        row("a third waits between", u"zk:/a kazoo-lock: A | C B\nzk:/b kazoo-lock: B | A"_s, {u"zk:A zk:B"_s});
        row("three over three", u"zk:/a kazoo-lock: A | C\nzk:/b kazoo-lock: B | A\nzk:/c kazoo-lock: C | B"_s,
            {u"zk:A zk:B zk:C"_s});
        row("two apart", two + u"\nzk:/c kazoo-lock: C | D\nzk:/d kazoo-lock: D | C"_s,
            {u"zk:A zk:B"_s, u"zk:C zk:D"_s});
        row("a queue", u"zk:/a kazoo-lock: A | B C\nzk:/b kazoo-lock: B | C"_s);
        row("the same session again", u"zk:/a kazoo-lock: A | A B"_s);
        row("threads of one session and another", u"zk:/a kazoo-lock: A | B A"_s);
        row("readers share", u"zk:/a curator-rwlock: A.r B.r |\nzk:/b curator-rwlock: B.r A.r |"_s);
        row("a writer before readers", u"zk:/a curator-rwlock: A.r | B C.r\nzk:/c kazoo-lock: C | A"_s,
            {u"zk:A zk:B zk:C"_s});
        row("one permit is free to come", u"zk:/a curator-semaphore: A.p C.p | B.p\nzk:/b kazoo-lock: B | A"_s);
        row("all permits are in it", u"zk:/a curator-semaphore: A.p C.p | B.p\nzk:/b kazoo-lock: B | A C"_s,
            {u"zk:A zk:B zk:C"_s});
        // By the node's number: the session waited before it got the other lock, so another thread did.
        row("it got that while it waited", u"zk:/a kazoo-lock: A~9 | B~5\nzk:/b kazoo-lock: B~2 | A~3"_s);
        row("it waited after it got that", u"zk:/a kazoo-lock: A~1 | B~5\nzk:/b kazoo-lock: B~2 | A~3"_s,
            {u"zk:A zk:B"_s});
        row("a row of SQL: all who are in the way",
            u"mariadb:t#id=1 sql-for-update: 1.r 2.r | 3\nmariadb:t#id=2 sql-for-update: 3 | 2"_s,
            {u"mariadb:2 mariadb:3"_s});
        row("Redisson's threads",
            u"redis:a redisson-fair-lock: %1:1 | %1:2\nredis:b redisson-fair-lock: %1:2 | %1:1"_s.arg(redissonA),
            {u"redis:"_s + redissonA});
        row("another thread of it waits",
            u"redis:a redisson-fair-lock: %1:1 | %2:1\nredis:b redisson-fair-lock: %2:1 | %1:2"_s.arg(redissonA,
                                                                                                      redissonB));

        const QString across =
            u"zk:/a kazoo-lock: A@app-9 | B@app-8\nmariadb:t#id=1 sql-for-update: 7@app-8 | 9@app-9"_s;
        row("a node's data and program_name", across, {u"app-8 app-9"_s});
        row("with a process in it",
            u"zk:/a kazoo-lock: A@app-31 | B@app-32\nmariadb:t#id=1 sql-for-update: 7@app%32 | 9@app%31"_s,
            {u"app-31 app-32"_s});
        row("two sessions of one name",
            u"zk:/a kazoo-lock: A@app | B@app\nmariadb:t#id=1 sql-for-update: 7@app | 9@app"_s);
        row("addresses are no names",
            u"zk:/a curator-mutex: A@10.0.0.1 | B@10.0.0.2\nmariadb:t#id=1 sql-for-update: 7@10.0.0.2 | 9@10.0.0.1"_s);
        const QString labelled =
            u"zk:/a curator-mutex: A | B\nredis:b redisson-fair-lock: %1:1 | %2:1"_s.arg(redissonB, redissonA);
        row("no label", labelled);
        row("a label", labelled, {u"east west"_s}, u"A=east %1*=east B=west %2*=west"_s.arg(redissonA, redissonB));
        row("a label that fits two of one server", labelled, {}, u"*=everybody"_s);
        const QString subscribed = u"zk:/a curator-mutex: A | B\nredis:b redisson-lock: %1:1 | +1"_s.arg(redissonB);
        const QString east = u"A=east +1=east B=west %1*=west"_s.arg(redissonB);
        row("a label of a subscriber", subscribed, {u"east west"_s}, east);
        const QString twice = subscribed + u"\nredis:c redisson-lock: %1:1 | +1"_s.arg(redissonA);
        row("a label of that lock's subscriber", twice, {u"east west"_s},
            u"A=east redis:b#+1=east B=west %1*=west"_s.arg(redissonB));
    }
    void cycles()
    {
        QFETCH(QString, picture);
        QFETCH(QString, labels);
        QTEST(cycleWords(waitGraphOf(drawnLocks(picture), drawnLabels(labels), pictureTime)), "cycles");
    }

    // Each lock counts its subscribers from 1: a label that says no more makes no client of two locks' first.
    void aNumberIsNobodysName()
    {
        const auto locks = drawnLocks(u"zk:/a kazoo-lock: A | B\nredis:b redisson-lock: %1:1 | +1\n"
                                      "redis:c redisson-lock: %2:1 | +1"_s.arg(redissonA, redissonB));
        QCOMPARE(waitGraphOf(locks, drawnLabels(u"A=east +1=east"_s), pictureTime).clients.size(), 6U);
        QCOMPARE(waitGraphOf(locks, drawnLabels(u"A=east redis:c#+1=east"_s), pictureTime).clients.size(), 5U);
    }

    void howSureAJoinIsStandsBesideIt()
    {
        const auto graph =
            waitGraphOf(drawnLocks(u"zk:/a kazoo-lock: A@app-9 |\nmariadb:t#id=1 sql-for-update: 9@app-9 | 3"_s), {},
                        pictureTime);
        QCOMPARE(graph.clients.size(), size_t(2));
        QCOMPARE(graph.clients[0].id, QByteArray("app-9"));
        QCOMPARE(word(graph.clients[0].join), u"client-name"_s);
        QCOMPARE(graph.clients[0].because, u"calls itself app-9"_s);
        QCOMPARE(word(graph.clients[1].join), u"session"_s);
    }

    // As each server writes it.
    void oneIpv6HostIsOneHost_data()
    {
        const Rows<QString, QString, std::size_t> row("zooKeeper", "mariaDb", "clients"); // with the waiter
        row("one", u"0:0:0:0:0:0:0:1:40000"_s, u"::1:40001"_s, 2);
        row("in brackets", u"2001:db8:0:0:0:0:0:7:40000"_s, u"[2001:db8::7]:40001"_s, 2);
        row("two", u"2001:db8:0:0:0:0:0:7:40000"_s, u"[2001:db8::8]:40001"_s, 3);
        row("over loopback", u"2001:db8:0:0:0:0:0:7:40000"_s, u"[::1]:40001"_s, 2);
    }
    void oneIpv6HostIsOneHost()
    {
        QFETCH(QString, zooKeeper);
        QFETCH(QString, mariaDb);
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A@worker |\nmariadb:t#id=1 sql-for-update: 9@worker | 3"_s);
        locks[0].contenders[0].endpoint = zooKeeper;
        locks[1].contenders[0].endpoint = mariaDb;
        QTEST(waitGraphOf(locks, {}, pictureTime).clients.size(), "clients");
    }

    void addressIsNoName_data()
    {
        addRows<bool>("name", {{"worker", true},
                               {"fe80::1", false},
                               {"[fe80::1]:5432", false},
                               {"fe80::1%eth0", false},
                               {"::ffff:10.0.3.7", false},
                               {"app:fe80", true},
                               {"17:billing", true},
                               {"4711:web-1", true},
                               {"0x1000009b4890007", true}});
    }
    void addressIsNoName() { QTEST(isClientName(QTest::currentDataTag()), "name"); }

    // Of two hosts, each its own "worker".
    void aNameOnTwoHostsIsTwoClients()
    {
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A@worker |\nmariadb:t#id=1 sql-for-update: 9@worker | 3"_s);
        locks[0].contenders[0].endpoint = u"10.0.0.1:1"_s;
        locks[1].contenders[0].endpoint = u"10.0.0.2:1"_s;
        QCOMPARE(waitGraphOf(locks, {}, pictureTime).clients.size(), size_t(3));
        locks[1].contenders[0].endpoint = u"10.0.0.1:2"_s;
        QCOMPARE(waitGraphOf(locks, {}, pictureTime).clients.size(), size_t(2));
    }

    void aHostAloneJoinsNobody()
    {
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A | B\nredis:b redis-set-nx: t1 |"_s);
        locks[0].contenders[0].endpoint = u"10.0.0.1:1"_s;
        locks[0].contenders[1].endpoint = u"10.0.0.1:2"_s;
        locks[1].contenders[0].endpoint = u"10.0.0.1:3"_s;
        const auto graph = waitGraphOf(locks, {{"10.0.0.1:*", u"east"_s}}, pictureTime);
        QCOMPARE(graph.clients.size(), size_t(3));
        for (const auto &client : graph.clients)
            QCOMPARE(client.name, u"east"_s);
    }

    void theVictimIsTheCheapest()
    {
        auto graph =
            waitGraphOf(drawnLocks(u"zk:/a kazoo-lock: A=10 | B C\nzk:/b kazoo-lock: B=40 | A"_s), {}, pictureTime);
        QCOMPARE(graph.clients[size_t(graph.cycles.front().victim)].id, QByteArray("zk:B"));
        graph = waitGraphOf(drawnLocks(u"zk:/a kazoo-lock: A=10 | B\nzk:/b kazoo-lock: B=40 | A C\n"
                                       "zk:/d kazoo-lock: A=90 | E"_s),
                            {}, pictureTime);
        // One waits outside for each; A has held something for the shortest.
        QCOMPARE(graph.clients[size_t(graph.cycles.front().victim)].id, QByteArray("zk:A"));
        QVERIFY2(graph.cycles.front().victimBecause.contains(u"newest hold"_s),
                 qPrintable(graph.cycles.front().victimBecause));
    }

    // Of two whose holds are of unlike age, the younger is called that only where the other cannot be younger still.
    void theNewestHoldIsOnlySaidWhereItIsSure()
    {
        const auto because = [](const std::vector<LockSnapshot> &locks) {
            const auto graph = waitGraphOf(locks, {}, pictureTime);
            const auto &cycle = graph.cycles.front();
            return graph.clients[size_t(cycle.victim)].name + u": "_s + cycle.victimBecause;
        };
        const auto locks = drawnLocks(u"zk:/a kazoo-lock: A=10 | B\nzk:/b kazoo-lock: B=40 | A"_s);
        const auto sure = u"zk:A: no other client waits for it, and its newest hold is the newest in the deadlock"_s;
        const auto unsure = u"zk:A: no other client waits for it"_s;
        QCOMPARE(because(locks), sure);
        auto changed = locks;
        changed[1].contenders[0].heldAtMost = true;
        QCOMPARE(because(changed), unsure);
        changed = locks;
        changed[1].contenders[0].heldSince.reset();
        QCOMPARE(because(changed), unsure);
        changed = locks;
        changed[0].contenders[0].heldAtMost = true; // then it is younger still
        QCOMPARE(because(changed), sure);
    }

    void cycleNamesWhatMayEndIt()
    {
        auto graph = waitGraphOf(drawnLocks(u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B | A"_s), {}, pictureTime);
        QCOMPARE(graph.cycles.front().ends, std::optional<QString>());
        QVERIFY(graph.cycles.front().sentence.contains(u"Nothing that is known ends it by itself"_s));
        auto leased = drawnLocks(
            u"zk:/a kazoo-lock: A | B\nredis:b redisson-fair-lock: %1:1 | %2:1"_s.arg(redissonB, redissonA));
        leased[1].contenders[0].expiresAt = std::chrono::time_point_cast<std::chrono::milliseconds>(pictureTime) + 8s;
        graph = waitGraphOf(leased, drawnLabels(u"A=east %1*=east B=west %2*=west"_s.arg(redissonA, redissonB)),
                            pictureTime);
        QVERIFY2(graph.cycles.front().ends->contains(u"8.0 s unless it is renewed"_s),
                 qPrintable(*graph.cycles.front().ends));
        graph = waitGraphOf(
            drawnLocks(u"zk:/a kazoo-lock: A@aaa | B@bbb\nmariadb:t#id=1 sql-for-update: 7@bbb | 9@aaa"_s), {},
            pictureTime);
        QVERIFY2(graph.cycles.front().ends->endsWith(u"innodb_lock_wait_timeout (its length is unknown)"_s),
                 qPrintable(*graph.cycles.front().ends));
    }

    // How long, and how sure that is.
    void aTimeoutThatEndsItIsSaid_data()
    {
        const Rows<QString, std::vector<WaitLimit>, QString> row("row", "limits", "ends");
        const auto inner = [&](const char *what, const std::vector<WaitLimit> &limits, const QString &ends) {
            row(what, u"mariadb:t#id=1 sql-for-update: 7@bbb | 9@aaa"_s, limits, ends);
        };
        const QByteArray innoDb = "innodb_lock_wait_timeout";
        inner("its own", {{innoDb, 7s, true}}, u"after its innodb_lock_wait_timeout of 7.0 s"_s);
        inner(
            "usual", {{innoDb, 50s, false}},
            u"after innodb_lock_wait_timeout (50 s for sessions that set none of their own; whether this one did, the "
            u"server does not tell)"_s);
        inner("longer", {{innoDb, 5s, false}}, // it has waited for 10 s
              u"after a time of its own, which the server does not tell: it has waited longer than "
              u"innodb_lock_wait_timeout usually lasts, 5.0 s"_s);
        row("of a table", u"mariadb:TABLE#t sql-table-lock: 7@bbb | 9@aaa"_s,
            std::vector<WaitLimit>{{"lock_wait_timeout", 60s, true}}, u"after its lock_wait_timeout of 1 m 00 s"_s);
        row("PostgreSQL, across servers", u"pg:t#id=1 pg-for-update: 7@bbb | 9@aaa"_s,
            std::vector<WaitLimit>{{"deadlock_timeout", 1s, false}, {"lock_timeout", 30s, false}},
            u"after lock_timeout (30 s for sessions that set none of their own; whether this one did, the server "
            u"does not tell)"_s);
    }
    void aTimeoutThatEndsItIsSaid()
    {
        QFETCH(const QString, row);
        QFETCH(const std::vector<WaitLimit>, limits);
        QFETCH(const QString, ends);
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A@aaa | B@bbb\n"_s + row);
        locks[1].contenders[1].limits = limits;
        const auto graph = waitGraphOf(locks, {}, pictureTime);
        QCOMPARE(graph.cycles.size(), std::size_t(1));
        QVERIFY2(graph.cycles.front().ends && graph.cycles.front().ends->endsWith(ends),
                 qPrintable(graph.cycles.front().ends.value_or(u"nothing"_s)));
    }
    void postgreSqlEndsItsOwnDeadlocks()
    {
        auto locks = drawnLocks(u"pg:t#id=1 pg-for-update: 7 | 9\npg:t#id=2 pg-for-update: 9 | 7"_s);
        auto graph = waitGraphOf(locks, {}, pictureTime);
        QVERIFY(graph.cycles.front().ends->contains(u"deadlock_timeout, whose length is unknown"_s));
        for (auto &lock : locks)
            lock.contenders[1].limits = {{"deadlock_timeout", 3s, false}};
        graph = waitGraphOf(locks, {}, pictureTime);
        QVERIFY2(graph.cycles.front().ends->startsWith(u"PostgreSQL ends a statement of it, 3.0 s after"_s),
                 qPrintable(*graph.cycles.front().ends));
    }

    void aSessionThatIsNotHeardFromEndsIt()
    {
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B | A"_s);
        locks[0].contenders[0].expiresAt = std::chrono::time_point_cast<std::chrono::milliseconds>(pictureTime) + 4s;
        auto graph = waitGraphOf(locks, {}, pictureTime);
        QVERIFY2(!graph.cycles.front().ends, "it is heard from: its session is renewed for ever");
        addFinding(locks[0], FindingCode::HolderDisconnected, u"silent"_s, {locks[0].contenders[0].id});
        graph = waitGraphOf(locks, {}, pictureTime);
        QVERIFY(graph.cycles.front().ends);
        QVERIFY2(graph.cycles.front().ends->startsWith(u"the session of "_s)
                     && graph.cycles.front().ends->endsWith(u" expires in 4.0 s, unless it is heard from again"_s),
                 qPrintable(*graph.cycles.front().ends));
        QVERIFY(!graph.cycles.front().sentence.contains(u"Nothing that is known ends it"_s));
    }

    void contendersOwnNameIsFound_data()
    {
        addColumns<BackendKind, QByteArray, QByteArray, QByteArray>("backend", "identity", "program", "name");
        const auto row = [](const char *what, BackendKind backend, const char *identity, const char *program,
                            const char *name) {
            QTest::newRow(what) << backend << QByteArray(identity) << QByteArray(program) << QByteArray(name);
        };
        row("what kazoo was given", BackendKind::ZooKeeper, "app-9", "", "app-9");
        row("Curator's address", BackendKind::ZooKeeper, "10.0.3.7", "", "");
        row("data", BackendKind::ZooKeeper, R"({"host": "10.0.3.7", "started": "2026-03-01T10:00:00Z"})", "", "");
        const char *host = "worker-1@host-17.eu-central-1.example.net";
        const char *pod = "settlement-leader@batch-01.eu-central-1.compute.internal/7f3a";
        row("a name with its host, of 41 bytes", BackendKind::ZooKeeper, host, "", host);
        row("a pod's", BackendKind::ZooKeeper, pod, "", pod);
        row("an address with a UUID", BackendKind::ZooKeeper, "192.0.2.2 20aae600-17b5-4d78-8a00-112233445566", "",
            "");
        row("a token", BackendKind::ZooKeeper, "5f0c0e9a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e", "", "");
        row("an account", BackendKind::MariaDb, "root", "", "");
        row("a program", BackendKind::MariaDb, "root", "billing-7", "billing-7");
        row("a named connection", BackendKind::Redis, "", "billing-7", "billing-7");
    }
    void contendersOwnNameIsFound()
    {
        QFETCH(BackendKind, backend);
        QFETCH(QByteArray, identity);
        QFETCH(QByteArray, program);
        QFETCH(QByteArray, name);
        Contender one;
        if (!identity.isEmpty())
            one.identity = identity;
        if (!program.isEmpty())
            one.program = program;
        QCOMPARE(selfNameOf(one, backend).value_or(QByteArray()), name);
    }

    void aLongNameKeepsItsHost()
    {
        const QByteArray name = QByteArray(100, 'a') + "@host-17.eu-central-1.example.net";
        QCOMPARE(nameLabel(name), QString::fromLatin1(name)); // 133 bytes
        const auto longer = nameLabel(QByteArray(700, 'a') + "@host-17.example.net");
        QCOMPARE(longer.size(), 200);
        QVERIFY2(longer.startsWith(u"aaa"_s) && longer.endsWith(u"a…@host-17.example.net"_s), qPrintable(longer));
        QVERIFY(nameLabel(QByteArray(5000, '@')).size() <= 200);
        QVERIFY(!nameLabel("a\x1b[2J@host").contains(QChar(0x1b)));
    }

    void anObjectThatNamesAClientIsReadable_data()
    {
        addColumns<QByteArray>("written");
        QTest::addColumn<QString>("shown");
        const QString unchanged;
        QTest::newRow("Vitess") << QByteArray("{\"Action\":\"SwitchTraffic\",\"HostName\":\"vtctld-1\"}")
                                << u"SwitchTraffic by vtctld-1"_s;
        QTest::newRow("Vitess with line breaks, cut off")
            << QByteArray("{\n  \"Action\": \"ApplyVSchema\",\n  \"HostName\": \"vtctld-1\",\n  \"UserNa")
            << u"ApplyVSchema by vtctld-1"_s;
        QTest::newRow("Terraform") << QByteArray(
            "{\"ID\":\"7\",\"Operation\":\"OperationTypeApply\",\"Who\":\"ci@runner-3\"}")
                                   << u"OperationTypeApply by ci@runner-3"_s;
        QTest::newRow("one field only") << QByteArray("{\"Action\":\"X\"}") << unchanged;
        QTest::newRow("other fields") << QByteArray("{\"node\":\"n1\"}") << unchanged;
        QTest::newRow("no object") << QByteArray("\"Action\":\"X\",\"HostName\":\"y\"") << unchanged;
        QTest::newRow("an escaped quote") << QByteArray("{\"Action\":\"a\\\"b\",\"HostName\":\"y\"}") << unchanged;
    }
    void anObjectThatNamesAClientIsReadable()
    {
        QFETCH(QByteArray, written);
        QFETCH(QString, shown);
        QCOMPARE(nameLabel(written), shown.isEmpty() ? label(written, 200) : shown);
    }

    // The host behind a name is what an operator looks for.
    void theAnswerNamesAHolderOfAnyLength()
    {
        auto lock = drawnLocks(u"zk:/a kazoo-lock: A@app-1 | B@app-2"_s).front();
        lock.contenders[0].identity = "worker-1@host-17.eu-central-1.example.net";
        lock.contenders[0].endpoint = u"127.0.0.1:33106"_s;
        const auto sentence = answerSentence(lock, lock.observed);
        QVERIFY2(sentence.contains(u"is held by worker-1@host-17.eu-central-1.example.net (127.0.0.1)"_s),
                 qPrintable(sentence));
    }

    void theSentenceNamesClientsAndLocks()
    {
        auto graph =
            waitGraphOf(drawnLocks(u"zk:/a kazoo-lock: A@app-1 | B@app-2\nzk:/b kazoo-lock: B@app-2 | A@app-1"_s), {},
                        pictureTime);
        const auto &sentence = graph.cycles.front().sentence;
        QVERIFY2(
            sentence.startsWith(u"app-1 holds zk:/a and waits for zk:/b; app-2 holds zk:/b and waits for zk:/a. "_s),
            qPrintable(sentence));
    }

    // Only one of several addresses stood there.
    void theSentenceNamesAllAddressesOfAClient()
    {
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A | B\nredis:b redisson-lock: B | A"_s);
        locks[0].contenders[0].endpoint = u"10.0.0.1:1"_s;
        locks[1].contenders[1].endpoint = u"10.0.0.2:7"_s;
        const auto graph = waitGraphOf(locks, {{"A", u"billing"_s}, {"B", u"stock"_s}}, pictureTime);
        const auto &sentence = graph.cycles.front().sentence;
        QVERIFY2(sentence.contains(u"billing (10.0.0.2:7, 10.0.0.1:1) holds zk:/a"_s), qPrintable(sentence));
        for (int n = 0; n < 3; ++n) {
            locks.push_back(drawnLock(u"zk:/c%1 kazoo-lock: A |"_s.arg(n)));
            locks.back().contenders[0].endpoint = u"10.0.1.%1:1"_s.arg(n);
        }
        const auto many = waitGraphOf(locks, {{"A", u"billing"_s}, {"B", u"stock"_s}}, pictureTime);
        QVERIFY2(many.cycles.front().sentence.contains(u" and 2 more) holds zk:/a"_s),
                 qPrintable(many.cycles.front().sentence));
    }

    void aFindingOnEachLockInIt()
    {
        const auto locks =
            drawnLocks(u"zk:/a kazoo-lock: A | B C\nzk:/b kazoo-lock: B | A\nzk:/c kazoo-lock: C | D"_s);
        const auto graph = waitGraphOf(locks, {}, pictureTime);
        std::vector<std::vector<QByteArray>> found;
        for (auto lock : locks) {
            addDeadlocks(lock, graph, graph.cycles);
            found.push_back(lock.findings.empty() ? std::vector<QByteArray>() : lock.findings.front().contenders);
        }
        using Ids = std::vector<QByteArray>;
        QCOMPARE(found, (std::vector<Ids>{{"A", "B"}, {"B", "A"}, {}}));
        auto first = locks.front();
        addDeadlocks(first, graph, graph.cycles);
        QCOMPARE(first.findings.front().also, std::vector<LockName>{locks[1].lock});
        // Of A, C waits for what it holds; nobody does of B.
        using Places = std::vector<FindingPlace>;
        QCOMPARE(first.findings.front().victim, (Places{{locks[1].lock, "B", u"B"_s}, {locks[0].lock, "B", u"B"_s}}));
        const auto json = toJson(first)[u"findings"_s].toArray().at(0).toObject()[u"victim"_s].toArray();
        QCOMPARE(json.size(), 2);
        QCOMPARE(json.at(0).toObject(), (QJsonObject{{u"lock"_s, u"zk:/b"_s}, {u"id"_s, u"B"_s}}));
        QCOMPARE(keyOf(graph, graph.cycles.front()), keyOf(graph, graph.cycles.front()));
    }

    // A window records the finding without the other locks and the victim. What is seen again is said once, and
    // whole; of a deadlock that is not, what was recorded stays.
    void aRecordedDeadlockIsSaidOnce_data()
    {
        const Rows<QString, bool> row("picture", "isSeenAgain");
        row("seen again", u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B | A"_s, true);
        row("no cycle", u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: B |"_s, false);
        row("another's", u"zk:/a kazoo-lock: A | B\nzk:/b kazoo-lock: C | D\nzk:/c kazoo-lock: D | C"_s, false);
    }
    void aRecordedDeadlockIsSaidOnce()
    {
        QFETCH(QString, picture);
        QFETCH(bool, isSeenAgain);
        const auto locks = drawnLocks(picture);
        const auto graph = waitGraphOf(locks, {}, pictureTime);
        auto lock = locks.front();
        addFinding(lock, FindingCode::Deadlock, u"as recorded"_s, {"A"});
        addFinding(lock, FindingCode::LongHeld, u"for an hour"_s, {"A"});
        addDeadlocks(lock, graph, graph.cycles);
        QCOMPARE(lock.findings.size(), std::size_t(2));
        const auto *found = lock.find(FindingCode::Deadlock);
        QVERIFY(found && lock.find(FindingCode::LongHeld));
        QCOMPARE(found->message != u"as recorded"_s, isSeenAgain);
        QCOMPARE(found->victim.empty(), !isSeenAgain);
    }

    // The user's word before its own, and also where it has no address.
    void nameNextToAnAddressIsFound_data()
    {
        const Rows<QString, QString, bool, QString> row("labels", "lock", "hasAddress", "name");
        const auto kazoo = u"zk:/a kazoo-lock: A@app-9"_s;
        row("its own", {}, kazoo, true, u"app-9"_s);
        row("its own, which stands there instead", {}, kazoo, false, {});
        row("by its session", u"A=till"_s, kazoo, false, u"till"_s);
        row("by its host", u"10.0.3.*=till"_s, kazoo, true, u"till"_s);
        row("by its name", u"app-*=till"_s, kazoo, true, u"till"_s);
        row("the first that fits", u"B=shop app-9=till A=else"_s, kazoo, true, u"till"_s);
        row("none that fits", u"B=shop"_s, kazoo, true, u"app-9"_s);
        row("a thread", redissonA + u":1=till"_s, u"redis:a redisson-lock: %1:1"_s.arg(redissonA), false, u"till"_s);
        row("a client", u"redis:%1=till"_s.arg(redissonA), u"redis:a redisson-lock: %1:1"_s.arg(redissonA), false,
            u"till"_s);
        row("one of whom the number is known", u"redis:a#+1=till"_s, u"redis:a redisson-lock: | +1"_s, false,
            u"till"_s);
    }
    void nameNextToAnAddressIsFound()
    {
        QFETCH(QString, labels);
        QFETCH(QString, lock);
        QFETCH(bool, hasAddress);
        QFETCH(QString, name);
        auto drawn = drawnLock(lock);
        auto &one = drawn.contenders.front();
        if (hasAddress)
            one.endpoint = u"10.0.3.7:4711"_s;
        addLabels(drawn, drawnLabels(labels));
        QCOMPARE(QString::fromUtf8(nameBeside(one, drawn.backend).value_or(QByteArray())), name);
        // The graph calls it the same.
        const auto clients = clientsOf({drawn}, drawnLabels(labels)).clients;
        if (!one.label.isEmpty())
            QCOMPARE(clients.front().name, name);
        addLabels(drawn, {}); // nor is it called so any longer than the user does
        QCOMPARE(one.label, QString());
    }

    void locksOfOneThreadAreGrouped_data()
    {
        addColumns<QString, QStringList>("picture", "groups");
        const auto row = [](const char *name, const QString &picture, const QStringList &groups = {}) {
            QTest::newRow(name) << picture.arg(redissonA, redissonB) << groups;
        };
        row("three by one thread, of them one with a waiter",
            u"redis:a redisson-lock: %1:1\nredis:b redisson-fenced-lock: %1:1\nredis:c redisson-fair-lock: %1:1 | %2:1"_s,
            {u"a b c"_s});
        row("a reader, and one that writes",
            u"redis:a redisson-rwlock: %1:1.r\nredis:b redisson-rwlock: %1:1:write"_s, {u"a b"_s});
        row("two threads of one client", u"redis:a redisson-lock: %1:1\nredis:b redisson-lock: %1:2"_s);
        row("two clients", u"redis:a redisson-lock: %1:1\nredis:b redisson-lock: %2:1"_s);
        row("two servers", u"redis:a redisson-lock: %1:1\nredis2:b redisson-lock: %1:1"_s);
        row("one of them is only waited for",
            u"redis:a redisson-lock: %1:1\nredis:b redisson-fair-lock: %2:1 | %1:1"_s);
        row("a session says nothing of threads", u"zk:/a kazoo-lock: A\nzk:/b kazoo-lock: A"_s);
        row("readers of one that others hold with more",
            u"redis:a redisson-rwlock: %1:1.r %2:1.r\nredis:b redisson-lock: %1:1\nredis:c redisson-lock: %2:1"_s,
            {u"a b"_s, u"a c"_s});
    }
    void locksOfOneThreadAreGrouped()
    {
        QFETCH(QString, picture);
        const auto locks = drawnLocks(picture);
        const auto graph = waitGraphOf(locks, {}, pictureTime);
        QStringList groups;
        for (const auto &group : graph.together)
            groups << QString::fromUtf8(QByteArrayList(group.locks.begin(), group.locks.end()).join(' '));
        groups.sort();
        QTEST(groups, "groups");
        // One lock asked for: the same, the long way.
        for (const auto &lock : locks) {
            std::vector<QByteArray> others;
            const auto threads = holdingThreads(lock);
            for (const auto &other : locks) {
                if (other.lock != lock.lock && other.lock.connection == lock.lock.connection
                    && isHeldByAny(other, threads))
                    others.push_back(other.lock.name);
            }
            QCOMPARE(heldWith(lock, graph.together), others);
        }
    }
    void locksHeldTogetherAreNamed()
    {
        QCOMPARE(heldWithSentence({}), QString());
        QCOMPARE(heldWithSentence({"b"}), u"held together with b by one thread, as the members of a MultiLock are"_s);
        QVERIFY(heldWithSentence({"b", "c"}).contains(u" b and c by "_s));
        QVERIFY(heldWithSentence({"b", "c", "d", "e", "f"}).contains(u" b, c, d and 2 more by "_s));
    }

    void hostileNamesStayText()
    {
        auto locks = drawnLocks(u"zk:/a kazoo-lock: A | B"_s);
        locks[0].lock.name = "/x\"];evil[\n\x1b";
        locks[0].contenders[0].identity = "me\\\"\n<b>";
        const auto graph = waitGraphOf(locks, {}, pictureTime);
        const auto dot = toDot(graph);
        QCOMPARE(dot.count('\n'), 9);
        QVERIFY(!dot.contains('\x1b') && dot.contains("/x\\\"];evil[\\\\x0A\\\\x1B"));
        QVERIFY(!QString::fromUtf8(graph.clients[0].id).contains(u'\n'));
    }
};

LOCKSCOPE_TEST(TestWaitGraph)
#include "tst_waitgraph.moc"
