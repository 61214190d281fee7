// SPDX-License-Identifier: Apache-2.0
// Our Redlock beside node-redlock and redsync on three nodes, and our lock of one node beside theirs on one: who
// holds keeps the other out, also with one node of three gone. Waiters poll, on either side.
#include "core/recipes/make.h"
#include "tests/interop/rediscross.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

namespace {

struct Peer {
    const char *name; // of the row
    const char *seenAs;
    const char *fetchedAs;
    std::unique_ptr<ForeignClient> (*start)(const QStringList &servers);
};

std::unique_ptr<ForeignClient> nodeRedlock4(const QStringList &servers)
{
    return nodeRedlockContenders(u"redlock"_s, servers);
}

std::unique_ptr<ForeignClient> nodeRedlock5(const QStringList &servers)
{
    return nodeRedlockContenders(u"redlock-5"_s, servers);
}

const Peer peers[] = {
    {"node-redlock 4", "node-redlock", "NODE_REDLOCK", nodeRedlock4},
    {"node-redlock 5", "node-redlock", "NODE_REDLOCK", nodeRedlock5},
    {"redsync", "redsync", "REDSYNC", redsyncContenders},
};

} // namespace

class TestInteropRedlock : public RedisCross {
    Q_OBJECT

    static constexpr int nodes = 3;
    static constexpr auto lease = "180000";

    Peer m_peer{};
    int m_servers = 0;
    QByteArray m_lock;

    static void rows(std::initializer_list<int> sizes)
    {
        addColumns<int, int>("peer", "servers");
        for (int i = 0; i < int(std::size(peers)); ++i) {
            for (const int servers : sizes)
                QTest::addRow("%s, %d node(s)", peers[i].name, servers) << i << servers;
        }
    }
    // Why the row cannot be tested; null if it can. Their program has been started then.
    QByteArray begin()
    {
        m_peer = peers[*static_cast<int *>(QTest::qData("peer", qMetaTypeId<int>()))];
        m_servers = *static_cast<int *>(QTest::qData("servers", qMetaTypeId<int>()));
        m_lock = newLock(m_peer.seenAs);
        if (fetched(m_peer.fetchedAs).isEmpty())
            return whyNotFetched(m_peer.fetchedAs);
        m_program = m_peer.start(servers(m_servers));
        return {};
    }
    Ours &ours()
    {
        recipes::AcquireOptions options{.ttl = longLease};
        Random random(1000 + m_ours.size());
        if (m_servers == 1)
            return keep(
                recipes::makeLock("redis-set-nx", *m_client.front(), RedisKey(m_lock), options, std::move(random)));
        std::vector<redis::Connection *> all;
        for (const auto &one : m_client)
            all.push_back(one.get());
        return keep(recipes::makeLock("redlock", all, RedisKey(m_lock), options, std::move(random)));
    }
    QByteArray theirs() { return RedisCross::theirs(m_lock + ' ' + lease); }
    QByteArray theirValue(const QByteArray &name) { return m_program->heldWord(name, 2); }
    // On how many of the nodes the lock's key is.
    int copies()
    {
        int all = 0;
        for (int i = 0; i < m_servers; ++i)
            all += int(m_nodes[size_t(i)].ask({"EXISTS", m_lock}).integer);
        return all;
    }
    [[nodiscard]] QByteArray ourRecipe() const { return m_servers == 1 ? "redis-set-nx" : "redlock"; }

private slots:
    void initTestCase() { OK(startServers(nodes)); }
    void cleanup()
    {
        m_ours.clear();
        notifyWhatTheySaid();
        m_program.reset();
    }
    void cleanupTestCase() { stopServers(); }

    void eachKeepsTheOtherOut_data() { rows({1, nodes}); }
    void eachKeepsTheOtherOut()
    {
        SKIP_FOR(begin());
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid().constData());
        auto &holder = ours();
        QVERIFY(holder.takes());
        QCOMPARE(copies(), m_servers);
        const int before = tries();
        const auto name = theirs();
        QVERIFY(isTriedBeyond(before + 1));
        QVERIFY(theyWaitStill(name));
        QVERIFY(weRelease(holder));
        QVERIFY(theyHold(name));

        auto &waiter = ours();
        QVERIFY(waitsOutside(waiter));
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
        QTRY_COMPARE_WITH_TIMEOUT(copies(), 0, patienceMs);
    }

    void aForceReleaseLetsTheOtherIn_data() { rows({1, nodes}); }
    void aForceReleaseLetsTheOtherIn()
    {
        SKIP_FOR(begin());
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid().constData());
        auto &victim = ours();
        QVERIFY(victim.takes());
        const auto name = theirs();
        QVERIFY(theyWaitStill(name));
        QCOMPARE(forceRelease(m_lock, victim.id(), m_servers), QByteArray());
        QVERIFY(theyHold(name));
        QVERIFY(victim.saysItIsNotMine());
        // Our late release leaves the next holder alone.
        victim.release();
        QTRY_VERIFY_WITH_TIMEOUT(victim.released, patienceMs);
        QCOMPARE(victim.released->error().code, ErrorCode::NotHeld);
        QCOMPARE(copies(), m_servers);

        auto &waiter = ours();
        QVERIFY(waitsOutside(waiter));
        QCOMPARE(forceRelease(m_lock, theirValue(name), m_servers), QByteArray());
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
    }

    void theirsIsRecognised_data() { rows({1, nodes}); }
    void theirsIsRecognised()
    {
        SKIP_FOR(begin());
        const auto name = theirs();
        QVERIFY2(theyHold(name), m_program->everythingSaid().constData());
        const auto lock = seen(m_lock, m_servers);
        QCOMPARE(lock["recipe"_L1].toString(), QString::fromLatin1(ourRecipe()));
        QCOMPARE(lock["client"_L1].toString(), QString::fromLatin1(m_peer.seenAs));
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        const auto holder = lock["contenders"_L1].toArray().at(0).toObject();
        QCOMPARE(holder["id"_L1].toString(), QString::fromLatin1(theirValue(name)));
        QVERIFY(holder["ttlMs"_L1].toInteger() > 0);
        QVERIFY(theyRelease(name));
    }

    void nothingIsLost_data() { rows({1, nodes}); }
    void nothingIsLost()
    {
        SKIP_FOR(begin());
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid().constData());
        std::vector<std::unique_ptr<ForeignClient>> programs;
        programs.push_back(std::move(m_program));
        programs.push_back(m_peer.start(servers(m_servers)));
        QVERIFY2(programs.back()->says("ready"), programs.back()->everythingSaid().constData());
        const std::vector<Ours *> us{&ours(), &ours(), &ours()};
        QCOMPARE(countTogether(programs, m_lock, us), QByteArray());
        QTRY_COMPARE_WITH_TIMEOUT(copies(), 0, patienceMs);
    }

    // Last: the third node does not come back.
    void twoOfThreeNodesAreEnough_data() { rows({nodes}); }
    void twoOfThreeNodesAreEnough()
    {
        SKIP_FOR(begin());
        QVERIFY2(m_program->says("ready"), m_program->everythingSaid().constData());
        m_nodes.back().server->stop();
        auto &holder = ours();
        QVERIFY(holder.takes());
        const int before = tries();
        const auto name = theirs();
        QVERIFY(isTriedBeyond(before + 1));
        QVERIFY(theyWaitStill(name));
        QVERIFY(weRelease(holder));
        QVERIFY(theyHold(name));
        auto &waiter = ours();
        QVERIFY(waitsOutside(waiter));
        QVERIFY(theyRelease(name));
        QVERIFY(isHeldBy(waiter));
        QVERIFY(weRelease(waiter));
    }
};

LOCKSCOPE_TEST(TestInteropRedlock)
#include "tst_interop_redlock.moc"
