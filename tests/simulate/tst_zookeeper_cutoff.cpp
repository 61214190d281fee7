// SPDX-License-Identifier: Apache-2.0
// Who holds a lock and is cut off from ZooKeeper cannot hear that its session is over: it has to stop believing by
// its own clock, before another can have the lock; and to go on believing while the session certainly lives.
#include "core/recipes/make.h"
#include "tests/simulate/zookeeperworld.h"
#include "tests/support/testmain.h"

namespace {

keeper::SessionOptions shortSession()
{
    return keeper::SessionOptions{.timeout = 4s};
}

// A contender with a session of its own; takes the lock when it is told.
struct Somebody {
    Somebody(ZooKeeperWorld &world, quint64 seed) : client(world.open(shortSession())), scope(*client.process)
    {
        auto made = recipes::makeLock(QTest::currentDataTag(), *client.session, ZPath("/locks/it"), {}, Random(seed));
        if (made)
            lock = std::move(*made);
    }
    void acquire() { scope.launch(take()); }
    void release() { scope.launch(giveBack()); }
    [[nodiscard]] bool holds() const { return lock->holdCount() > 0; }

    ZooKeeperWorld::Client client;
    std::unique_ptr<recipes::Lock> lock;
    std::optional<Result<recipes::Grant>> granted;
    std::optional<Result<void>> released;
    std::optional<recipes::Loss> loss;
    std::optional<Instant> lostAt;
    Scope scope; // last: its coroutines use the lock

private:
    Task<void> take()
    {
        const auto never = Deadline::never();
        granted = co_await lock->acquire(never);
        if (!*granted)
            co_return;
        lock->lost().then([this](const recipes::Loss &why) {
            loss = why;
            lostAt = client.process->now();
        });
    }
    Task<void> giveBack()
    {
        const auto never = Deadline::never();
        released = co_await lock->release(never);
    }
};

} // namespace

class TestZooKeeperCutOff : public QObject {
    Q_OBJECT

    std::unique_ptr<ZooKeeperWorld> m_world;
    std::unique_ptr<Somebody> m_holder, m_next;

    void cut(bool toServer, bool toClient)
    {
        const auto number = m_holder->client.process->number();
        if (toServer)
            m_world->network.block(number, 0, Direction::ToServer);
        if (toClient)
            m_world->network.block(number, 0, Direction::ToClient);
    }
    void mend()
    {
        const auto number = m_holder->client.process->number();
        m_world->network.open(number, 0, Direction::ToServer);
        m_world->network.open(number, 0, Direction::ToClient);
    }
    static void recipesAsRows()
    {
        QTest::addColumn<bool>("isThere");
        for (const auto &recipe : recipes::catalogue()) {
            const bool plays = recipe.backend == BackendKind::ZooKeeper && recipe.acquirable;
            if (plays)
                QTest::newRow(recipe.id) << true;
        }
    }
    // One holds, with a session of 4 s, and one waits.
    void begin()
    {
        m_holder.reset();
        m_next.reset();
        m_world = std::make_unique<ZooKeeperWorld>(11);
        const auto admin = m_world->open();
        QVERIFY(m_world->make(admin, "/locks"));
        m_holder = std::make_unique<Somebody>(*m_world, 1);
        m_next = std::make_unique<Somebody>(*m_world, 2);
        QVERIFY(m_holder->lock && m_next->lock);
        m_holder->acquire();
        QVERIFY(m_world->waitFor([this] { return m_holder->holds() && m_holder->granted; }));
        m_next->acquire();
        m_world->loop.advance(100ms);
        QVERIFY(!m_next->holds());
    }

private slots:
    void cleanup()
    {
        m_holder.reset();
        m_next.reset();
        m_world.reset();
    }

    void itStopsBelievingBeforeAnotherHasIt_data() { recipesAsRows(); }
    void itStopsBelievingBeforeAnotherHasIt()
    {
        for (const auto &[toServer, toClient] : {std::pair(true, true), {true, false}, {false, true}}) {
            begin();
            cut(toServer, toClient);
            QVERIFY(m_world->waitFor([this] { return m_next->holds(); }));
            QVERIFY(m_holder->loss);
            QVERIFY(*m_holder->loss == recipes::Loss::CutOff);
            QVERIFY(*m_holder->lostAt < m_world->loop.now());
            QCOMPARE(m_holder->lock->holdCount(), 0);
            m_holder->release();
            QVERIFY(m_world->waitFor([this] { return m_holder->released.has_value(); }));
            QCOMPARE(m_holder->released->error().code, ErrorCode::NotHeld);
            // Back again it takes nothing from the one who has it now.
            mend();
            m_world->loop.advance(10s);
            QVERIFY(m_next->holds() && !m_next->loss);
        }
    }

    // Two thirds of the timeout is what the client waits for an answer; a quarter more it believes.
    void itBelievesWhileTheSessionCertainlyLives_data() { recipesAsRows(); }
    void itBelievesWhileTheSessionCertainlyLives()
    {
        begin();
        cut(true, true);
        m_world->loop.advance(3300ms); // the client has hung up; the session has half a second at the least
        QVERIFY(m_holder->client->state() == zk::SessionState::Connecting);
        QVERIFY(!m_holder->loss && m_holder->holds());
        mend();
        m_world->loop.advance(10s);
        QVERIFY(m_holder->client->state() == zk::SessionState::Connected);
        QVERIFY(!m_holder->loss && m_holder->holds());
        QVERIFY(!m_next->holds());
        m_holder->release();
        QVERIFY(m_world->waitFor([this] { return m_next->holds(); }));
    }

    // The session lived after all, as the server heard us the whole time: nobody is kept waiting for it.
    void nodeOfALostHoldIsRemoved_data() { recipesAsRows(); }
    void nodeOfALostHoldIsRemoved()
    {
        begin();
        cut(false, true);
        QVERIFY(m_world->waitFor([this] { return m_holder->loss.has_value(); }));
        QVERIFY(!m_next->holds());
        mend();
        QVERIFY(m_world->waitFor([this] { return m_next->holds(); }));
        QVERIFY(m_holder->client->state() == zk::SessionState::Connected); // not by its session's end
        // And it may come again.
        m_holder->acquire();
        m_world->loop.advance(1s);
        QVERIFY(!m_holder->holds());
        m_next->release();
        QVERIFY(m_world->waitFor([this] { return m_holder->holds(); }));
    }
};

LOCKSCOPE_TEST(TestZooKeeperCutOff)
#include "tst_zookeeper_cutoff.moc"
