// SPDX-License-Identifier: Apache-2.0
// Several locks as one, on real servers: all or none, one deadline, release in reverse whatever becomes of each.
#include "tests/support/curatorfixture.h"

#include "core/recipes/lockbase.h"
#include "core/redis/client.h"
#include "tests/support/testmain.h"

class TestRecipesMultiLock : public CuratorFixture {
    Q_OBJECT

    std::unique_ptr<sandbox::Server> m_redis;
    std::unique_ptr<redis::Connection> m_connection;

    [[nodiscard]] ZPath path(int i) const { return m_path.child(NodeName("part-" + QByteArray::number(i))); }
    // The contender of the next number holds `parts` locks together, on one session.
    recipes::MultiLock &addMulti(int parts, const QByteArray &kind = "mutex")
    {
        auto &client = addClient();
        std::vector<std::unique_ptr<recipes::Lock>> members;
        for (int i = 0; i < parts; ++i)
            members.push_back(makeCuratorLock(kind, *client.counting, path(i), 10 * m_clients.size() + quint64(i)));
        auto made = std::make_unique<recipes::MultiLock>(m_loop, std::move(members));
        auto &multi = *made;
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(made)));
        waitForState(*client.real, zk::SessionState::Connected);
        return multi;
    }
    // A contender for one part alone.
    Contender &addSingle(int part)
    {
        auto &client = addClient();
        auto made = makeCuratorLock("mutex", *client.counting, path(part), 1000 + m_clients.size());
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(made)));
        waitForState(*client.real, zk::SessionState::Connected);
        return *m_contenders.back();
    }
    QList<int> sizes(int parts)
    {
        QList<int> out;
        for (int i = 0; i < parts; ++i)
            out << int(namesIn(path(i)).size());
        return out;
    }
    bool prepareParts(int parts)
    {
        m_path = ZPath("/multi-" + QByteArray::number(++m_runs));
        bool made = make(m_path);
        for (int i = 0; i < parts; ++i)
            made = made && make(path(i));
        return made;
    }

private slots:
    void initTestCase()
    {
        OK_OR_SKIP(m_server, startServer());
        START_OR_SKIP(m_redis, sandbox::makeRedis());
        m_connection = redis::openConnection(m_loop, {.host = m_redis->address()});
    }
    void cleanup() { forgetContenders(); }
    void cleanupTestCase()
    {
        m_connection.reset();
        closeSessions();
    }

    void allOfThem()
    {
        QVERIFY(prepareParts(3));
        const auto &multi = addMulti(3);
        QVERIFY(contender(0).takes());
        QCOMPARE(counting(0).spoken(), QByteArray("create 3, children 3"));
        QCOMPARE(multi.grants().size(), size_t(3));
        QByteArrayList ids;
        for (int i = 0; i < 3; ++i) {
            ids << multi.grants()[size_t(i)].id;
            QCOMPARE(namesIn(path(i)), QByteArrayList{ids.last()});
        }
        QCOMPARE((*contender(0).granted)->id, ids.join(' '));
        QCOMPARE(multi.holdCount(), 1);
        QVERIFY(isRefused(contender(0), 0)); // not reentrant
        QVERIFY(contender(0).saysItIsMine());
        counting(0).reset();
        QVERIFY(givesBack(0));
        QCOMPARE(counting(0).spoken(), QByteArray("remove 3"));
        QCOMPARE(sizes(3), (QList<int>{0, 0, 0}));
        QCOMPARE(multi.holdCount(), 0);
        QCOMPARE(contender(0).codeOfRelease(), int(ErrorCode::NotHeld));
        QVERIFY(contender(0).takes());
    }

    void releasesInReverse()
    {
        QVERIFY(prepareParts(3));
        addMulti(3);
        QVERIFY(contender(0).takes());
        std::vector<Contender *> waiters;
        for (int i = 0; i < 3; ++i) {
            waiters.push_back(&addSingle(i));
            waiters.back()->acquire();
            QVERIFY(waits(i + 1, 3));
        }
        // The second removal is held up: only the last part is free by then.
        faulty(0).plan(RequestKind::Remove, 2, RequestFault::HoldRequest);
        contender(0).release();
        QTRY_VERIFY(waiters[2]->holds());
        QVERIFY(!waiters[1]->granted && !waiters[0]->granted && !contender(0).released);
        faulty(0).letThrough();
        QTRY_VERIFY(waiters[1]->holds() && waiters[0]->holds());
        QTRY_VERIFY(contender(0).released && *contender(0).released);
    }

    // The second of three is not to be had: neither are the others, and the error says which it was.
    void allOrNone()
    {
        QVERIFY(prepareParts(3));
        addMulti(3);
        auto &other = addSingle(1);
        other.acquire();
        QVERIFY(gets(1));
        contender(0).acquire(Deadline::after(m_loop, 200ms)); // one deadline for all
        QTRY_VERIFY(contender(0).granted);
        QCOMPARE(contender(0).granted->error().code, ErrorCode::TimedOut);
        QVERIFY2(contender(0).error().contains(QString::fromLatin1(path(1).bytes())),
                 qPrintable(contender(0).error()));
        QCOMPARE(sizes(3), (QList<int>{0, 1, 0})); // at once: before the timeout was reported
        QCOMPARE(contender(0).lock->holdCount(), 0);
        contender(0).acquire();
        QVERIFY(QTest::qWaitFor([this] { return namesIn(path(1)).size() == 2; }, 20'000));
        QVERIFY(givesBack(1));
        QVERIFY(gets(0));
    }

    void triesOnceWithoutWaiting()
    {
        QVERIFY(prepareParts(2));
        addMulti(2);
        addMulti(2);
        QVERIFY(contender(0).takes(Deadline::at(m_loop.now())));
        QCOMPARE(contender(1).codeOfAcquire(Deadline::at(m_loop.now())), int(ErrorCode::TimedOut));
        QCOMPARE(sizes(2), (QList<int>{1, 1}));
    }

    void overlapping()
    {
        QVERIFY(prepareParts(3));
        addMulti(2);
        addMulti(3);
        QVERIFY(contender(0).takes());
        contender(1).acquire();
        QVERIFY(waits(1, 3));
        QVERIFY(givesBack(0));
        QVERIFY(gets(1));
        QCOMPARE(sizes(3), (QList<int>{1, 1, 1}));
    }

    void cancelledWhileItWaits_data()
    {
        addRows<bool>("destroyed", {{"the lock is destroyed", true}, {"the acquire is destroyed", false}});
    }
    void cancelledWhileItWaits()
    {
        QFETCH(bool, destroyed);
        QVERIFY(prepareParts(3));
        addMulti(3);
        auto &other = addSingle(2);
        other.acquire();
        QVERIFY(gets(1));
        contender(0).acquire();
        QTRY_COMPARE(sizes(3), (QList<int>{1, 1, 2}));
        QVERIFY(waits(0, 7));
        if (destroyed)
            contender(0).lock.reset();
        else
            contender(0).cancelWaits();
        QTRY_COMPARE(sizes(3), (QList<int>{0, 0, 1}));
        if (destroyed) {
            QTRY_VERIFY(contender(0).granted);
            QCOMPARE(contender(0).granted->error().code, ErrorCode::Cancelled);
            return;
        }
        QVERIFY(givesBack(1));
        QVERIFY(contender(0).takes());
    }

    void destroyingTheHolderReleasesAll()
    {
        QVERIFY(prepareParts(3));
        addMulti(3);
        QVERIFY(contender(0).takes());
        contender(0).lock.reset();
        QTRY_COMPARE(sizes(3), (QList<int>{0, 0, 0}));
    }

    void aReleaseNobodyWaitsForGoesOn()
    {
        QVERIFY(prepareParts(3));
        addMulti(3);
        QVERIFY(contender(0).takes());
        faulty(0).plan(RequestKind::Remove, 1, RequestFault::HoldReply);
        contender(0).release();
        QTRY_COMPARE(sizes(3), (QList<int>{1, 1, 0}));
        contender(0).cancelWaits();
        QTRY_COMPARE(sizes(3), (QList<int>{0, 0, 0}));
        QCOMPARE(contender(0).lock->holdCount(), 0);
    }

    // One that fails does not stop the others, and the error names it.
    void oneReleaseFails()
    {
        QVERIFY(prepareParts(3));
        const auto &multi = addMulti(3);
        QVERIFY(contender(0).takes());
        QVERIFY(removeNode(multi.grants()[1].node));
        QVERIFY(contender(0).saysItIsNotMine());
        QCOMPARE(contender(0).codeOfRelease(), int(ErrorCode::NotHeld));
        const auto message = contender(0).released->error().message;
        QVERIFY2(message.contains(QString::fromLatin1(path(1).bytes())), qPrintable(message));
        QVERIFY2(!message.contains(QString::fromLatin1(path(0).bytes())), qPrintable(message));
        QCOMPARE(sizes(3), (QList<int>{0, 0, 0}));
        QVERIFY(contender(0).takes());
    }

    void aRefusedReleaseCanBeRepeated()
    {
        QVERIFY(prepareParts(3));
        addMulti(3);
        QVERIFY(contender(0).takes());
        faulty(0).plan(RequestKind::Remove, 2, RequestFault::Refuse);
        QCOMPARE(contender(0).codeOfRelease(), int(ErrorCode::Unsupported));
        QCOMPARE(sizes(3), (QList<int>{0, 1, 0}));
        QVERIFY(contender(0).lock->holdCount() > 0);
        QVERIFY(givesBack(0));
        QCOMPARE(sizes(3), (QList<int>{0, 0, 0}));
    }

    // One of two sessions expires.
    void losingOneIsLosingIt()
    {
        QVERIFY(prepareParts(2));
        m_cable = std::make_unique<Cable>(m_server->address());
        m_clients.push_back(std::make_unique<Client>(m_loop, m_cable->address(), 1s));
        addClient();
        std::vector<std::unique_ptr<recipes::Lock>> members;
        for (int i = 0; i < 2; ++i)
            members.push_back(makeCuratorLock("mutex", counting(i), path(i), quint64(i)));
        auto made = std::make_unique<recipes::MultiLock>(m_loop, std::move(members));
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(made)));
        QVERIFY(contender(0).takes());
        contender(0).heed();
        m_cable->cut();
        QTRY_COMPARE_WITH_TIMEOUT(sizes(2), (QList<int>{0, 1}), 20'000);
        // One of them is cut off, and so the whole is lost.
        QTRY_VERIFY_WITH_TIMEOUT(contender(0).loss, 20'000);
        QCOMPARE(*contender(0).loss, recipes::Loss::CutOff);
        m_cable->mend();
        QCOMPARE(contender(0).codeOfRelease(), int(ErrorCode::NotHeld));
        QCOMPARE(sizes(2), (QList<int>{0, 0}));
    }

    // A queue of znodes and a Redis key, together.
    void acrossServers()
    {
        QVERIFY(prepareParts(1));
        auto &client = addClient();
        std::vector<std::unique_ptr<recipes::Lock>> members;
        members.push_back(makeCuratorLock("mutex", *client.counting, path(0), 5));
        auto key = recipes::makeLock("redis-set-nx", *m_connection, RedisKey("multi-lock"), {}, Random(6));
        QVERIFY(key);
        members.push_back(std::move(*key));
        auto made = std::make_unique<recipes::MultiLock>(m_loop, std::move(members));
        const auto &multi = *made;
        m_contenders.push_back(std::make_unique<Contender>(m_loop, std::move(made)));
        QVERIFY(waitForState(*client.real, zk::SessionState::Connected));
        const auto get = [this] { return await(m_connection->command({"GET", "multi-lock"}, soon())); };
        QVERIFY(contender(0).takes());
        QCOMPARE(sizes(1), QList<int>{1});
        QCOMPARE(get()->text, multi.grants()[1].id);
        QVERIFY(givesBack(0));
        QCOMPARE(sizes(1), QList<int>{0});
        QVERIFY(get()->isNil());
        // Somebody else has the key: the node goes, too.
        QVERIFY(await(m_connection->command({"SET", "multi-lock", "somebody"}, soon())));
        QCOMPARE(contender(0).codeOfAcquire(Deadline::after(m_loop, 300ms)), int(ErrorCode::TimedOut));
        QCOMPARE(sizes(1), QList<int>{0});
        QCOMPARE(get()->text, QByteArray("somebody"));
    }
};

LOCKSCOPE_TEST(TestRecipesMultiLock)
#include "tst_recipes_multilock.moc"
