// SPDX-License-Identifier: Apache-2.0
// Our contenders and other people's on the same lock, both ways: who holds keeps the other out, the queue
// is one queue, a force-release wakes whoever is next, and under load nothing is lost.
#include "tests/interop/counting.h"
#include "tests/interop/crossfixture.h"
#include "tests/support/testmain.h"

#include <QJsonDocument>
#include <QJsonObject>

using namespace lockscope::interop;

namespace {

// How long a contender that has asked is watched: it must not get in.
constexpr int watchfulMs = 200;

} // namespace

class TestInteropCross : public CrossFixture {
    Q_OBJECT

    static constexpr size_t processes = 2;

    std::map<Client, std::unique_ptr<ForeignClient>> m_programs;
    std::map<Client, std::vector<std::unique_ptr<ForeignClient>>> m_counters;
    int m_names = 0;

    ForeignClient &program() { return *m_programs.at(m_pair.client); }
    // Of the pair's other side.
    std::unique_ptr<ForeignClient> start(const QString &curators)
    {
        if (m_pair.client == Client::Curator)
            return javaClient(curators, theirServer());
        return pythonClient(m_pair.client == Client::Kazoo ? u"kazoo_client.py"_s : u"redis_client.py"_s,
                            theirServer());
    }
    void startPrograms()
    {
        for (const auto client : {Client::Kazoo, Client::Curator, Client::RedisPy}) {
            m_pair.client = client;
            m_programs[client] = start(u"CuratorClient.java"_s);
        }
    }
    // A contender of theirs asks for the lock; its name.
    QByteArray theirs(int limit = 1)
    {
        const QByteArray name = 't' + QByteArray::number(++m_names);
        if (m_pair.client == Client::RedisPy)
            program().tell("acquire " + name + ' ' + m_lock + " 120");
        else
            program().tell("acquire " + name + ' ' + m_pair.kind + ' ' + m_lock + ' ' + QByteArray::number(limit));
        return name;
    }
    bool theyHold(const QByteArray &name) { return program().says("held " + name); }
    bool theyRelease(const QByteArray &name)
    {
        program().tell("release " + name);
        return program().says("released " + name);
    }
    bool theyWaitStill(const QByteArray &name)
    {
        return !QTest::qWaitFor([&] { return program().hasSaid("held " + name); }, watchfulMs);
    }
    bool weRelease(Ours &one)
    {
        one.release();
        return QTest::qWaitFor([&] { return one.released.has_value(); }, patienceMs) && *one.released;
    }

    // lockscopectl force-release; what it said if that was no success.
    QByteArray forceRelease(const QByteArray &holder)
    {
        const auto &zooKeeper = *m_zooKeeper;
        const auto zk = u"zk://127.0.0.1:%1?admin=%2"_s.arg(zooKeeper.address().port).arg(zooKeeper.adminPort());
        const auto redis = u"redis://127.0.0.1:%1"_s.arg(m_redis->address().port);
        const bool isRedis = m_pair.client == Client::RedisPy;
        const auto lock = (isRedis ? u"redis:"_s : u"zk:"_s) + QString::fromLatin1(m_lock);
        QProcess ctl;
        ctl.start(QStringLiteral(LOCKSCOPECTL), {u"force-release"_s, lock, u"--holder"_s, QString::fromLatin1(holder),
                                                 u"--yes"_s, u"--json"_s, u"--connect"_s, isRedis ? redis : zk});
        // Our own sessions and leases go on meanwhile.
        const bool ended = QTest::qWaitFor([&] { return ctl.state() == QProcess::NotRunning; }, patienceMs);
        const auto answer = ctl.readAllStandardOutput();
        const auto released = QJsonDocument::fromJson(answer).object()["released"_L1].toBool();
        return ended && ctl.exitCode() == 0 && released ? QByteArray()
                                                        : answer + ctl.readAllStandardError() + "(no success)";
    }

private slots:
    void initTestCase()
    {
        for (const auto &why : {whyNoPythonClients(), whyNoCurator()}) {
            if (!why.isEmpty())
                QSKIP(why.constData());
        }
        OK(startServers());
        startPrograms();
        for (auto &[client, program] : m_programs)
            QVERIFY2(program->says("ready"), program->everythingSaid().constData());
    }
    void cleanup()
    {
        m_ours.clear();
        if (QTest::currentTestFailed()) {
            for (auto &[client, program] : m_programs)
                qInfo("%s", program->everythingSaid().constData());
        }
    }
    void cleanupTestCase()
    {
        m_programs.clear();
        m_counters.clear();
        stopServers();
    }

    void ourHolderKeepsThemOut_data() { pairsAsRows(any); }
    void ourHolderKeepsThemOut()
    {
        begin();
        auto &holder = ours();
        QVERIFY(holder.takes());
        const int before = come();
        const auto name = theirs();
        QVERIFY(comesBeyond(before));
        QVERIFY(theyWaitStill(name));
        QVERIFY(weRelease(holder));
        QVERIFY(theyHold(name));
        QVERIFY(theyRelease(name));
    }

    void theirHolderKeepsUsOut_data() { pairsAsRows(any); }
    void theirHolderKeepsUsOut()
    {
        begin();
        const auto name = theirs();
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        const int before = come();
        waiter.acquire();
        QVERIFY(comesBeyond(before));
        QVERIFY(!QTest::qWaitFor([&] { return waiter.granted.has_value(); }, watchfulMs));
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
    }

    // In turns: of a read/write pair the readers never stand side by side.
    void oneQueue_data() { pairsAsRows(queues); }
    void oneQueue()
    {
        begin();
        if (m_pair.kind == "read" && program().hasSaid("ready 2.8.0"))
            QSKIP(
                "kazoo 2.8 lets a reader wait for writers behind it, too: they wait for each other (kazoo issue 649)");
        constexpr std::size_t places = 6;
        std::vector<Ours *> us(places, nullptr);
        std::vector<QByteArray> them(places);
        const auto holds = [&](std::size_t i) {
            return us[i] ? us[i]->holds() : program().hasSaid("held " + them[i]);
        };
        for (std::size_t i = 0; i < places; ++i) {
            const int before = come();
            if (i % 2 == 0) {
                us[i] = &ours();
                us[i]->acquire();
            } else {
                them[i] = theirs();
            }
            QVERIFY(comesBeyond(before));
            QTRY_VERIFY_WITH_TIMEOUT(i > 0 || holds(0), patienceMs);
        }
        for (std::size_t i = 0; i < places; ++i) {
            QTRY_VERIFY_WITH_TIMEOUT(holds(i), patienceMs);
            for (auto later = i + 1; later < places; ++later)
                QVERIFY2(!holds(later), QByteArray::number(qulonglong(later)).constData());
            QVERIFY(us[i] ? weRelease(*us[i]) : theyRelease(them[i]));
        }
        QTRY_COMPARE_WITH_TIMEOUT(come(), 0, patienceMs);
    }

    void forceReleaseOfOursWakesTheirs_data() { pairsAsRows(any); }
    void forceReleaseOfOursWakesTheirs()
    {
        begin();
        auto &victim = ours();
        QVERIFY(victim.takes());
        const int before = come();
        const auto name = theirs();
        QVERIFY(comesBeyond(before));
        QCOMPARE(forceRelease(victim.id()), QByteArray());
        QVERIFY(theyHold(name));
        QVERIFY(victim.saysItIsNotMine());
        // Our late release leaves the next holder alone.
        victim.release();
        QTRY_VERIFY_WITH_TIMEOUT(victim.released, patienceMs);
        QCOMPARE(victim.released->error().code, ErrorCode::NotHeld);
        QVERIFY(!holder().isEmpty());
        QVERIFY(theyRelease(name));
    }

    void forceReleaseOfTheirsWakesOurs_data() { pairsAsRows(any); }
    void forceReleaseOfTheirsWakesOurs()
    {
        begin();
        const auto name = theirs();
        QVERIFY(theyHold(name));
        const auto victim = holder();
        auto &waiter = ours();
        const int before = come();
        waiter.acquire();
        QVERIFY(comesBeyond(before));
        QVERIFY(!waiter.granted);
        QCOMPARE(forceRelease(victim), QByteArray());
        QVERIFY(isHeldBy(waiter));
        QCOMPARE(holder(), waiter.id());
        QVERIFY(weRelease(waiter));
    }

    // Several of ours and several of theirs, in processes of their own, add to a number that only the lock protects.
    void nothingIsLost_data()
    {
        pairsAsRows([](const Pair &pair) { return pair.alone; });
    }
    void nothingIsLost()
    {
        begin();
        auto &counters = m_counters[m_pair.client];
        while (counters.size() < processes)
            counters.push_back(start(u"CuratorCounter.java"_s));
        for (const auto &counter : counters)
            QVERIFY2(counter->says("ready"), counter->everythingSaid().constData());
        const QByteArray kind = m_pair.client == Client::RedisPy ? QByteArray() : m_pair.kind + ' ';
        const std::vector<Ours *> us{&ours(), &ours(), &ours()};
        QCOMPARE(countTogether(counters, kind + m_lock, us, m_loop, m_files.filePath(u"counter%1"_s.arg(m_count))),
                 QByteArray());
    }

    void readersShareAcrossClients()
    {
        begin({"", "kazoo-rwlock", true, Client::Kazoo, "read", false});
        auto &reader = ours();
        QVERIFY(reader.takes());
        const auto name = theirs();
        QVERIFY(theyHold(name));
        m_pair.kind = "write";
        const int before = come();
        const auto writer = theirs();
        QVERIFY(comesBeyond(before));
        QVERIFY(weRelease(reader));
        QVERIFY(theyWaitStill(writer));
        QVERIFY(theyRelease(name));
        QVERIFY(theyHold(writer));
        QVERIFY(theyRelease(writer));
    }

    void permitsAreOfOnePool()
    {
        begin({"", "kazoo-semaphore", false, Client::Kazoo, "semaphore", false});
        const auto name = theirs(2); // makes the pool
        QVERIFY(theyHold(name));
        auto &second = ours(2);
        QVERIFY(second.takes());
        const int before = come();
        auto &third = ours(2);
        third.acquire();
        QVERIFY(comesBeyond(before));
        const auto fourth = theirs(2);
        QVERIFY(comesBeyond(before + 1));
        QVERIFY(theyWaitStill(fourth));
        QVERIFY(!third.granted);
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(third));
        QVERIFY(theyWaitStill(fourth));
        QVERIFY(weRelease(second));
        QVERIFY(theyHold(fourth));
        QVERIFY(theyRelease(fourth));
        // A pool we made is theirs, too, and its number is theirs to check.
        begin(m_pair);
        auto &first = ours(3);
        QVERIFY(first.takes());
        QVERIFY(theyHold(theirs(3)));
        const auto pool = await(m_session->get(ZPath(m_lock), std::nullopt, soon()));
        QVERIFY(pool);
        QCOMPARE(pool->data, QByteArray("3"));
    }
};

LOCKSCOPE_TEST(TestInteropCross)
#include "tst_interop_cross.moc"
