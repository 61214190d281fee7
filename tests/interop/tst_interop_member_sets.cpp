// SPDX-License-Identifier: Apache-2.0
// Locks of other forms than a token's that are taken on a majority of several Redis nodes: RedlockSemaphore of npm's
// redis-semaphore and RedissonRedLock. Each is seen as one, and one force-release takes it away on every node.
#include "tests/interop/rediscross.h"
#include "tests/support/testmain.h"

using namespace lockscope::interop;

class TestInteropMemberSets : public RedisCross {
    Q_OBJECT

    static constexpr int nodes = 3;

    QByteArray m_lock;

    QByteArray theirId(const QByteArray &name) { return theirWord(name, 2); }
    QByteArray theirWord(const QByteArray &name, int word) { return m_program->heldWord(name, word); }
    // Who is seen to hold it, or what is wrong.
    static QStringList holdersOf(const QJsonObject &lock)
    {
        QStringList ids;
        for (const auto one : lock["contenders"_L1].toArray()) {
            const auto contender = one.toObject();
            const bool holds = contender["role"_L1] == "holder"_L1;
            ids << contender["id"_L1].toString() + (holds ? QString() : u" waits"_s);
        }
        ids.sort();
        return ids;
    }
    static QStringList sorted(QStringList texts)
    {
        texts.sort();
        return texts;
    }

    // Of the former; why not.
    QByteArray begin()
    {
        if (fetched("NODE_LOCKS").isEmpty())
            return whyNotFetched("NODE_LOCKS");
        m_lock = "semaphore:orders" + QByteArray::number(++m_locks);
        m_program =
            std::make_unique<ForeignClient>(u"node"_s, QStringList{clientFile(u"node_mutex_client.js"_s),
                                                                   fetched("NODE_LOCKS"), u"redlock-semaphore"_s}
                                                           + servers(nodes));
        return {};
    }

private slots:
    void initTestCase() { OK(startServers(nodes)); }
    void cleanup()
    {
        notifyWhatTheySaid();
        m_program.reset();
    }
    void cleanupTestCase() { stopServers(); }

    void memberOnAMajorityHolds()
    {
        if (const auto why = begin(); !why.isEmpty())
            QSKIP(why.constData());
        const auto first = theirs(m_lock + " 180000");
        QVERIFY2(theyHold(first), m_program->everythingSaid().constData());
        const auto second = theirs(m_lock + " 180000");
        QVERIFY(theyHold(second));
        const auto both = sorted({QString::fromLatin1(theirId(first)), QString::fromLatin1(theirId(second))});
        const auto lock = seen(m_lock, nodes);
        QCOMPARE(lock["client"_L1].toString(), u"redis-semaphore (npm)"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        QCOMPARE(holdersOf(lock), both);
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        const auto why = lock["why"_L1].toString();
        QVERIFY2(why.contains(u"one lock on 3 of 3 nodes"_s) && !why.contains(u"RedissonRedLock"_s), qPrintable(why));

        QCOMPARE(m_nodes.front().ask({"ZREM", m_lock, theirId(first)}).integer, 1);
        QCOMPARE(holdersOf(seen(m_lock, nodes)), both);
        // Its client goes on with the two that are left.
        QVERIFY(theyRelease(first));
        QCOMPARE(holdersOf(seen(m_lock, nodes)), QStringList{QString::fromLatin1(theirId(second))});
    }

    void aForceReleaseTakesItOutOnEveryNode()
    {
        SKIP_FOR(begin());
        const auto name = theirs(m_lock + " 180000");
        QVERIFY2(theyHold(name), m_program->everythingSaid().constData());
        const auto other = theirs(m_lock + " 180000");
        QVERIFY(theyHold(other));
        const auto waiting = theirs(m_lock + " 180000"); // there are two permits
        QVERIFY(theyWaitStill(waiting));
        QCOMPARE(forceRelease(m_lock, theirId(name), nodes), QByteArray());
        QVERIFY(theyHold(waiting));
        for (int node = 0; node < nodes; ++node)
            QVERIFY(m_nodes[size_t(node)].ask({"ZSCORE", m_lock, theirId(name)}).isNil());
        QCOMPARE(holdersOf(seen(m_lock, nodes)),
                 sorted({QString::fromLatin1(theirId(other)), QString::fromLatin1(theirId(waiting))}));
    }

    // Redisson's clients differ from node to node, their thread does not.
    void redissonsRedLockIsOneLock()
    {
        SKIP_FOR(whyNotFetched("REDISSON"));
        m_lock = newLock("redlock");
        const auto all = servers(nodes);
        m_program = redissonContenders(all.front().split(u':') + QStringList{u"nodes"_s} + all.mid(1));
        const auto holder = theirs("redlock " + m_lock);
        QVERIFY2(theyHold(holder), m_program->everythingSaid().constData());
        const auto lock = seen(m_lock, nodes);
        QCOMPARE(lock["client"_L1].toString(), u"Redisson (RedissonRedLock)"_s);
        QCOMPARE(lock["recipe"_L1].toString(), u"redisson-lock"_s);
        QCOMPARE(lock["state"_L1].toString(), u"held"_s);
        QCOMPARE(holdersOf(lock), QStringList{QString::fromLatin1(theirWord(holder, 3))});
        QVERIFY(lock["findings"_L1].toArray().isEmpty());
        const auto why = lock["why"_L1].toString();
        QVERIFY2(why.contains(u"one lock on 3 of 3 nodes"_s), qPrintable(why));
        const auto next = theirs("redlock " + m_lock);
        QVERIFY(theyWaitStill(next));
        QCOMPARE(forceRelease(m_lock, theirWord(holder, 3), nodes), QByteArray());
        QVERIFY(theyHold(next));
        QCOMPARE(holdersOf(seen(m_lock, nodes)), QStringList{QString::fromLatin1(theirWord(next, 3))});
        QVERIFY(theyRelease(next));
        for (int node = 0; node < nodes; ++node)
            QCOMPARE(m_nodes[size_t(node)].ask({"EXISTS", m_lock}).integer, 0);
    }
};

LOCKSCOPE_TEST(TestInteropMemberSets)
#include "tst_interop_member_sets.moc"
