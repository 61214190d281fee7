// SPDX-License-Identifier: Apache-2.0
// Clients of ZooKeeper by lockscopectl: kazoo's lease and ShedLock's nodes, which are nobody's presence; the
// LeaderLatch of Rust's crate zookeeper, whose sessions are silent for longer than others; the lock of its crate
// zookeeper-client, whose nodes have the names of whoever uses it.
#include "tests/interop/fetched.h"
#include "tests/support/patience.h"
#include "tests/support/testmain.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

using namespace lockscope::interop;

class TestInteropZooKeeperClients : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    QTemporaryDir m_files;

    QString server() const { return u"%1:%2"_s.arg(m_zooKeeper->address().host).arg(m_zooKeeper->address().port); }
    QJsonObject lockscopectl(QStringList arguments, QByteArray *complaint = nullptr) const
    {
        arguments << u"--json"_s << u"--connect"_s
                  << u"zk=zk://%1?admin=%2"_s.arg(server()).arg(m_zooKeeper->adminPort());
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL), arguments);
        const bool ended = QTest::qWaitFor([&] { return ctl.state() == QProcess::NotRunning; }, testing::patienceMs);
        const auto answer = ctl.readAllStandardOutput();
        if (complaint)
            *complaint = answer + ctl.readAllStandardError();
        return ended ? QJsonDocument::fromJson(answer).object() : QJsonObject();
    }
    std::unique_ptr<ForeignClient> shedLock() const
    {
        const QStringList java{u"-XX:TieredStopAtLevel=1"_s, u"-cp"_s, fetched("SHEDLOCK_ZOOKEEPER") + u"/*"_s,
                               clientFile(u"ShedLockZooKeeper.java"_s), server()};
        return std::make_unique<ForeignClient>(u"java"_s, java);
    }
    // As one look at everything lists it.
    QJsonObject listed(const QString &name) const
    {
        for (const auto one : lockscopectl({u"locks"_s})["locks"_L1].toArray()) {
            if (one.toObject()["lock"_L1] == name)
                return one.toObject();
        }
        return {};
    }
    QJsonObject shown(const QString &name) const { return lockscopectl({u"show"_s, name})["lock"_L1].toObject(); }
    static QStringList rolesIn(const QJsonObject &lock)
    {
        QStringList roles;
        for (const auto one : lock["contenders"_L1].toArray())
            roles << one.toObject()["role"_L1].toString();
        return roles;
    }

private slots:
    void initTestCase()
    {
        qputenv("XDG_STATE_HOME", m_files.path().toUtf8());
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
    }
    void cleanupTestCase() { m_zooKeeper.reset(); }

    void kazoosLease()
    {
        SKIP_FOR(whyNoPythonClients());
        {
            const auto kazoo = pythonClient(u"kazoo_client.py"_s, {server()});
            kazoo->tell("acquire worker-1 lease /app/lease");
            QVERIFY2(kazoo->says("held worker-1"), kazoo->everythingSaid().constData());
            kazoo->tell("acquire worker-2 lease /app/lease");
            QVERIFY2(kazoo->says("missed worker-2"), kazoo->everythingSaid().constData());
        }
        // Its client has gone, and has the lease still.
        const auto lock = listed(u"zk:/app/lease"_s);
        QCOMPARE(lock["recipe"_L1].toString(), u"zk-lease"_s);
        QCOMPARE(lock["client"_L1].toString(), u"kazoo"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        const auto holder = lock["contenders"_L1].toArray().at(0).toObject();
        QCOMPARE(holder["identity"_L1].toString(), u"worker-1"_s);
        QVERIFY(holder["ttlMs"_L1].toInteger() > 0);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
    }

    // Two jobs, whose nodes stay when they are over and when their client has gone. Nobody waits: who comes too early
    // is told so.
    void shedLocksNodes()
    {
        SKIP_FOR(whyNotFetched("SHEDLOCK_ZOOKEEPER"));
        const QString report = u"zk:/shedlock/report"_s;
        {
            const auto jobs = shedLock();
            for (const QByteArray job : {"report", "cleanup"}) {
                jobs->tell("acquire first-" + job + ' ' + job + " 600");
                QVERIFY2(jobs->says("held first-" + job), jobs->everythingSaid().constData());
                jobs->tell("acquire second-" + job + ' ' + job + " 600");
                QVERIFY2(jobs->says("missed second-" + job), jobs->everythingSaid().constData());
            }
            jobs->tell("release first-cleanup");
            QVERIFY2(jobs->says("released first-cleanup"), jobs->everythingSaid().constData());
        }
        const auto lock = listed(report);
        QCOMPARE(lock["recipe"_L1].toString(), u"zk-lease"_s);
        QCOMPARE(lock["client"_L1].toString(), u"ShedLock"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        const auto holder = lock["contenders"_L1].toArray().at(0).toObject();
        QVERIFY(holder["ttlMs"_L1].toInteger() > 0);
        QCOMPARE(shown(report)["contenders"_L1].toArray().at(0)["id"_L1], holder["id"_L1]);
        QCOMPARE(listed(u"zk:/shedlock/cleanup"_s)["state"_L1].toString(), u"free"_s);
    }
    // Below its node a queue's lock would be free to be had, and it would hold beside; and nothing tells a holder
    // from the next one but the date, so that its time is waited for.
    void shedLocksAreNeitherAcquiredNorForced()
    {
        SKIP_FOR(whyNotFetched("SHEDLOCK_ZOOKEEPER"));
        const QString nightly = u"zk:/shedlock/nightly"_s;
        const auto jobs = shedLock();
        jobs->tell("acquire a nightly 600");
        QVERIFY2(jobs->says("held a"), jobs->everythingSaid().constData());
        const auto holder = shown(nightly)["contenders"_L1].toArray().at(0)["id"_L1].toString();
        QByteArray said;
        for (const auto &recipe : {u"zk-mutex"_s, u"zk-ephemeral"_s, u"curator-mutex"_s}) {
            lockscopectl({u"acquire"_s, nightly, u"--recipe"_s, recipe, u"--hold"_s, u"0s"_s}, &said);
            QVERIFY2(said.contains("as the locks of ShedLock do"), said.constData());
        }
        lockscopectl({u"force-release"_s, nightly, u"--holder"_s, holder, u"--yes"_s}, &said);
        QVERIFY2(said.contains("wait until it has passed"), said.constData());
        QCOMPARE(shown(nightly)["contenders"_L1].toArray().at(0)["id"_L1].toString(), holder);
        // The next one is another, although its node is the same.
        jobs->tell("release a");
        QVERIFY2(jobs->says("released a"), jobs->everythingSaid().constData());
        jobs->tell("acquire b nightly 600");
        QVERIFY2(jobs->says("held b"), jobs->everythingSaid().constData());
        QVERIFY(shown(nightly)["contenders"_L1].toArray().at(0)["id"_L1].toString() != holder);
    }

    // Folders whose names say other things in systems that are known: here a client's own lock is in them.
    void kazoosLocksInFoldersOfAnyName()
    {
        SKIP_FOR(whyNoPythonClients());
        const auto kazoo = pythonClient(u"kazoo_client.py"_s, {server()});
        for (const QByteArray folder : {"owners", "leaders", "mutations", "taken"}) {
            const QByteArray path = "/app/" + folder + "/42";
            kazoo->tell("acquire " + folder + " lock " + path);
            QVERIFY2(kazoo->says("held " + folder), kazoo->everythingSaid().constData());
            const auto lock = listed(u"zk:"_s + QString::fromLatin1(path));
            QCOMPARE(lock["recipe"_L1].toString(), u"kazoo-lock"_s);
            QCOMPARE(rolesIn(lock), (QStringList{u"holder"_s}));
        }
    }

    // Of a session of nine seconds it pings every six: a look every now and then meets it silent for nearly as long.
    void theLatchOfRustsZooKeeper()
    {
        SKIP_FOR(whyNotFetched("RUST_LATCH"));
        constexpr int aPingMs = 6000;
        ForeignClient latch(fetched("RUST_LATCH"), {server()});
        for (const QByteArray name : {"one", "two", "three"}) {
            latch.tell("acquire " + name + " /app/leader 9000");
            QVERIFY2(latch.says("queued " + name), latch.everythingSaid().constData());
        }
        QVERIFY2(latch.says("held one"), latch.everythingSaid().constData());
        const auto lock = listed(u"zk:/app/leader"_s);
        QCOMPARE(lock["client"_L1].toString(), u"Rust zookeeper"_s);
        QCOMPARE(lock["recipe"_L1].toString(), u"zk-election"_s);
        QCOMPARE(rolesIn(lock), (QStringList{u"holder"_s, u"waiter"_s, u"waiter"_s}));
        QElapsedTimer since;
        since.start();
        while (since.elapsed() < aPingMs + aPingMs / 4) {
            const auto now = shown(u"zk:/app/leader"_s);
            const auto findings = QJsonDocument(now["findings"_L1].toArray()).toJson();
            QVERIFY2(rolesIn(now).size() == 3 && now["findings"_L1].toArray().isEmpty(), findings.constData());
        }
        latch.tell("release one");
        QVERIFY2(latch.says("held two"), latch.everythingSaid().constData());
        QCOMPARE(rolesIn(listed(u"zk:/app/leader"_s)), (QStringList{u"holder"_s, u"waiter"_s}));
    }

    // By names that say nothing, and by the watches that a server reports.
    void theLockOfRustsZooKeeperClient()
    {
        SKIP_FOR(whyNotFetched("RUST_ZOOKEEPER"));
        ForeignClient client(fetched("RUST_ZOOKEEPER"), {server()});
        client.tell("acquire one /app/turns n-");
        QVERIFY2(client.says("held one"), client.everythingSaid().constData());
        // One alone is a node like any other; the next makes a queue of it.
        int queued = 1;
        for (const QByteArray name : {"two", "three"}) {
            client.tell("acquire " + name + " /app/turns n-");
            const auto seen = [&] { return int(rolesIn(shown(u"zk:/app/turns"_s)).size()); };
            ++queued;
            QTRY_COMPARE_WITH_TIMEOUT(seen(), queued, testing::patienceMs);
        }
        const auto lock = listed(u"zk:/app/turns"_s);
        QCOMPARE(lock["recipe"_L1].toString(), u"zk-mutex"_s);
        QCOMPARE(lock["confidence"_L1].toString(), u"medium"_s);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        const auto contenders = lock["contenders"_L1].toArray();
        for (int i = 1; i < contenders.size(); ++i) {
            const auto watch = contenders[i]["watches"_L1].toArray().at(0).toObject();
            QCOMPARE(watch["target"_L1], contenders[i - 1]["id"_L1]);
            QCOMPARE(watch["evidence"_L1].toString(), u"server"_s);
        }
        client.tell("release one");
        QVERIFY2(client.says("held two"), client.everythingSaid().constData());
        QCOMPARE(listed(u"zk:/app/turns"_s)["contenders"_L1].toArray().at(0)["identity"_L1].toString(), u"two"_s);
    }
};

LOCKSCOPE_TEST(TestInteropZooKeeperClients)
#include "tst_interop_zookeeper_clients.moc"
