// SPDX-License-Identifier: Apache-2.0
// The window's view of the core on real servers: batches, questions, holds, force-release, reconnects.
#include "core/workspace/livebackend.h"
#include "core/zookeeper/client.h"
#include "tests/support/redisfixture.h"
#include "tests/support/testmain.h"

#include <QRegularExpression>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QSignalSpy>

namespace {

// Puts batches together as the models of the window do.
struct Seen {
    std::map<inspect::LockName, inspect::LockSnapshot> locks;
    std::map<ConnectionName, ConnectionStatus> connections;
    std::map<quint64, Hold> holds;
    int logEntries = 0;

    void take(const Batch &batch)
    {
        for (const auto &change : batch.locks) {
            if (change.kind == inspect::ChangeKind::Removed)
                locks.erase(change.lock.lock);
            else
                locks.insert_or_assign(change.lock.lock, change.lock);
        }
        for (const auto &status : batch.connections)
            connections.insert_or_assign(status.name, status);
        logEntries += static_cast<int>(batch.log.size());
    }
    [[nodiscard]] int contenders(const inspect::LockName &lock) const
    {
        const auto at = locks.find(lock);
        return at == locks.end() ? 0 : static_cast<int>(at->second.contenders.size());
    }
};

const ConnectionName zkName("zk");
const ConnectionName redisName("redis");
const inspect::LockName orders{zkName, "/locks/orders"};
const inspect::LockName invoice{redisName, "invoice-lock"};

} // namespace

class TestBackend : public QObject {
    Q_OBJECT

    std::unique_ptr<sandbox::ZooKeeperServer> m_zooKeeper;
    std::unique_ptr<sandbox::Server> m_redis;
    QTemporaryDir m_state;
    std::unique_ptr<LiveBackend> m_backend;
    Seen m_seen;

    ConnectionSpec zkSpec() const
    {
        return ConnectionSpec{
            .name = zkName, .hosts = {m_zooKeeper->address()}, .adminPort = m_zooKeeper->adminPort()};
    }
    ConnectionSpec redisSpec() const
    {
        return ConnectionSpec{.name = redisName, .scheme = Scheme::Redis, .hosts = {m_redis->address()}};
    }
    Hold::State stateOf(quint64 id) { return m_seen.holds[id].state; }
    bool isConnected(const ConnectionName &name)
    {
        return m_seen.connections[name].state == ConnectionStatus::State::Connected;
    }
    quint64 acquire(const inspect::LockName &lock, const QByteArray &recipe)
    {
        AcquireRequest request{.lock = lock, .recipe = recipe};
        return m_backend->acquire(request);
    }

    // Plans and forces; the outcome, or the error of either step.
    Result<operate::ForceReleaseOutcome> force(const inspect::LockName &lock, const QByteArray &holder)
    {
        std::optional<Result<operate::ForceReleasePlan>> plan;
        m_backend->ask(PlanRelease{lock, holder}, this, [&](auto answer) { plan = std::move(answer); });
        [&] { QTRY_VERIFY_WITH_TIMEOUT(plan.has_value(), 20'000); }();
        if (!*plan)
            return plan->error();
        std::optional<Result<operate::ForceReleaseOutcome>> outcome;
        m_backend->ask(ForceRelease{**plan, u"test"_s}, this, [&](auto answer) { outcome = std::move(answer); });
        [&] { QTRY_VERIFY_WITH_TIMEOUT(outcome.has_value(), 20'000); }();
        return *outcome;
    }

private slots:
    void initTestCase()
    {
        START_OR_SKIP(m_zooKeeper, sandbox::makeZooKeeper());
        START_OR_SKIP(m_redis, sandbox::makeRedis());
    }

    void init()
    {
        m_seen = {};
        WorkspaceOptions options{.auditPath = m_state.filePath(u"audit.jsonl"_s)};
        m_backend = std::make_unique<LiveBackend>(options);
        connect(m_backend.get(), &Backend::updated, this, [this](const Batch &batch) { m_seen.take(batch); });
        connect(m_backend.get(), &Backend::holdChanged, this,
                [this](const Hold &hold) { m_seen.holds.insert_or_assign(hold.id, hold); });
        m_backend->execute(Connect{zkSpec()});
        m_backend->execute(Connect{redisSpec()});
        QTRY_VERIFY_WITH_TIMEOUT(isConnected(zkName) && isConnected(redisName), 20'000);
    }
    void cleanup() { m_backend.reset(); }

    void aQueueOfOurOwnIsSeenAndMovesOn()
    {
        const auto first = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(first), Hold::State::Held, 15'000);
        QVERIFY(m_seen.holds[first].fencingToken.has_value());
        const auto second = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 2, 15'000);
        QCOMPARE(m_seen.locks[orders].contenders.front().id, m_seen.holds[first].contender);
        QCOMPARE(stateOf(second), Hold::State::Waiting);
        m_backend->execute(ReleaseHold{first});
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(second), Hold::State::Held, 15'000);
        QCOMPARE(stateOf(first), Hold::State::Released);
        QVERIFY(*m_seen.holds[second].fencingToken > *m_seen.holds[first].fencingToken);
        m_backend->execute(ReleaseHold{second});
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 0, 15'000);
    }

    void givingUpWhileWaitingLeavesNoNode()
    {
        const auto holder = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(holder), Hold::State::Held, 15'000);
        const auto waiter = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 2, 15'000);
        m_backend->execute(ReleaseHold{waiter});
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 1, 15'000);
        QCOMPARE(stateOf(waiter), Hold::State::Released);
        QCOMPARE(stateOf(holder), Hold::State::Held);
        m_backend->execute(ReleaseHold{holder});
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(holder), Hold::State::Released, 15'000);
    }

    void aHolderLearnsThatItsNodeWasTaken()
    {
        const auto hold = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Held, 15'000);
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 1, 15'000);
        const auto outcome = force(orders, m_seen.holds[hold].contender);
        QVERIFY2(outcome && outcome->released, outcome ? "" : qPrintable(outcome.error().message));
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Lost, 15'000);
        QVERIFY(!m_seen.holds[hold].message.isEmpty());
    }

    // A hold, a waiter and questions under way go with their connection; nothing of theirs looks back.
    void disconnectingEndsWhatUsesTheConnection()
    {
        const inspect::LockName lock{redisName, "closing-lock"};
        const auto holder = acquire(lock, "redis-set-nx");
        const auto node = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(holder), Hold::State::Held, 15'000);
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(node), Hold::State::Held, 15'000);
        const auto waiter = acquire(lock, "redis-set-nx");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(waiter), Hold::State::Waiting, 15'000);
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(lock), 1, 15'000);
        const auto ending = acquire({redisName, "ending-lock"}, "redis-set-nx");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(ending), Hold::State::Held, 15'000);
        m_redis->pause(); // so that the questions are still out
        m_backend->execute(ReleaseHold{ending});
        std::optional<Result<KeyPage>> page;
        std::optional<Result<operate::ForceReleasePlan>> plan;
        m_backend->ask(ScanKeys{redisName, "*", 0}, this, [&](auto answer) { page = std::move(answer); });
        m_backend->ask(PlanRelease{lock, m_seen.holds[holder].contender}, this,
                       [&](auto answer) { plan = std::move(answer); });
        m_backend->execute(Disconnect{redisName});
        QTRY_VERIFY_WITH_TIMEOUT(page && plan, 15'000);
        m_redis->resume();
        QVERIFY(!*page && !*plan);
        QCOMPARE(page->error().code, ErrorCode::NotConnected);
        QCOMPARE(page->error().message, u"the connection was closed"_s);
        QCOMPARE(plan->error().code, ErrorCode::NotConnected);
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(holder), Hold::State::Lost, 15'000);
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(waiter), Hold::State::Failed, 15'000);
        QVERIFY(m_seen.holds[holder].message.contains(u"closed"_s));
        QCOMPARE(stateOf(ending), Hold::State::Released);
        QVERIFY(m_seen.holds[ending].message.contains(u"closed"_s));
        QTest::qWait(1500); // longer than a holder's look at its key
        // The other connection goes on; and this one can come back.
        m_backend->execute(ReleaseHold{node});
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(node), Hold::State::Released, 15'000);
        m_seen.connections.erase(redisName);
        m_backend->execute(Connect{redisSpec()});
        QTRY_VERIFY_WITH_TIMEOUT(isConnected(redisName), 20'000);
    }

    void aHolderLearnsThatItsKeyWasTaken()
    {
        const auto hold = acquire(invoice, "redis-set-nx");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Held, 15'000);
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(invoice), 1, 15'000);
        const auto outcome = force(invoice, m_seen.holds[hold].contender);
        QVERIFY2(outcome && outcome->released, outcome ? "" : qPrintable(outcome.error().message));
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Lost, 15'000);
    }

    // The window goes: nobody has to wait for a TTL.
    void heldLocksAreReleasedAtTheEnd()
    {
        const inspect::LockName lock{redisName, "leaving-lock"};
        const auto held = acquire(lock, "redis-set-nx");
        const auto node = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(held), Hold::State::Held, 15'000);
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(node), Hold::State::Held, 15'000);
        const auto waiter = acquire(lock, "redis-set-nx");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(waiter), Hold::State::Waiting, 15'000);
        m_backend.reset();
        QtLoop loop;
        const auto raw = redis::openConnection(loop, testing::optionsFor(m_redis->address()));
        QVERIFY(testing::becomes(*raw, redis::ConnectionState::Connected));
        const auto left = testing::valueOf(raw->command({"EXISTS", lock.name}, Deadline::after(loop, 10s)));
        QCOMPARE(left.integer, 0);
    }

    void failedReleaseAtTheEndIsReported()
    {
        const inspect::LockName lock{redisName, "stuck-lock"};
        const auto held = acquire(lock, "redis-set-nx");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(held), Hold::State::Held, 15'000);
        m_redis->pause();
        const auto resume = qScopeGuard([this] { m_redis->resume(); });
        QTest::ignoreMessage(QtWarningMsg, QRegularExpression(u"closing: redis:stuck-lock may not .*TTL"_s));
        m_backend.reset();
    }

    void readOnlyRefusesWhateverAsks()
    {
        const auto hold = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 1, 15'000);
        m_backend->execute(SetReadOnly{zkName, true});
        const auto refused = acquire(orders, "zk-mutex");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(refused), Hold::State::Failed, 15'000);
        const auto outcome = force(orders, m_seen.holds[hold].contender);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Refused);
        QCOMPARE(m_seen.contenders(orders), 1);
        // What we hold ourselves goes with our session, though nothing is written any more.
        m_backend->execute(ReleaseHold{hold});
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Released, 15'000);
        QCOMPARE(m_seen.holds[hold].message, QString());
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.contenders(orders), 0, 15'000);
        QCOMPARE(m_seen.connections[zkName].readOnly, true);
    }

    void questionsAreAnswered()
    {
        const auto hold = acquire(invoice, "redis-set-nx");
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Held, 15'000);
        std::optional<Result<std::vector<ZnodeRow>>> rows;
        m_backend->ask(ListZnodes{zkName, ZPath("/")}, this, [&](auto answer) { rows = std::move(answer); });
        QTRY_VERIFY_WITH_TIMEOUT(rows.has_value() && *rows, 15'000);
        const auto isZooKeeper = [](const ZnodeRow &row) { return row.name.bytes() == "zookeeper"; };
        QVERIFY(std::any_of((*rows)->begin(), (*rows)->end(), isZooKeeper));
        std::optional<Result<ZnodeDetail>> missing;
        m_backend->ask(ReadZnode{zkName, ZPath("/no/such")}, this, [&](auto answer) { missing = std::move(answer); });
        QTRY_VERIFY_WITH_TIMEOUT(missing.has_value(), 15'000);
        QCOMPARE(missing->error().code, ErrorCode::NoNode);
        std::optional<Result<KeyPage>> page;
        m_backend->ask(ScanKeys{redisName, "invoice*", 0}, this, [&](auto answer) { page = std::move(answer); });
        QTRY_VERIFY_WITH_TIMEOUT(page.has_value() && *page, 15'000);
        QCOMPARE((*page)->rows.size(), std::size_t(1));
        QVERIFY((*page)->rows[0].ttl.has_value());
        std::optional<Result<KeyDetail>> detail;
        m_backend->ask(ReadKey{redisName, RedisKey("invoice-lock")}, this,
                       [&](auto answer) { detail = std::move(answer); });
        QTRY_VERIFY_WITH_TIMEOUT(detail.has_value() && *detail, 15'000);
        QCOMPARE((*detail)->items.at(0), m_seen.holds[hold].contender);
        m_backend->execute(ReleaseHold{hold});
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Released, 15'000);
        QVERIFY(m_seen.logEntries > 0);
    }

    void aChangeBetweenAListAndItsWatchIsTold()
    {
        std::optional<Result<std::vector<ZnodeRow>>> rows;
        m_backend->ask(ListZnodes{zkName, ZPath("/")}, this, [&](auto answer) { rows = std::move(answer); });
        QTRY_VERIFY_WITH_TIMEOUT(rows.has_value() && *rows, 15'000);
        const auto hold = acquire({zkName, "/between"}, "curator-mutex"); // a child of "/" comes
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Held, 15'000);
        QSignalSpy changed(m_backend.get(), &Backend::znodesChanged);
        m_backend->execute(WatchZnodes{zkName, {ZPath("/")}});
        QTRY_VERIFY_WITH_TIMEOUT(!changed.isEmpty(), 15'000);
        QCOMPARE(changed.front().at(1).value<ZPath>(), ZPath("/"));
        m_backend->execute(WatchZnodes{zkName, {}});
        m_backend->execute(ReleaseHold{hold});
        QTRY_COMPARE_WITH_TIMEOUT(stateOf(hold), Hold::State::Released, 15'000);
    }

    void aBrokenConnectionComesBackByItself()
    {
        m_redis->stop();
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.connections[redisName].state, ConnectionStatus::State::Broken, 15'000);
        QVERIFY(!m_seen.connections[redisName].message.isEmpty());
        QVERIFY(m_redis->start(30s));
        QTRY_VERIFY_WITH_TIMEOUT(isConnected(redisName), 20'000);
    }

    void aRefusedConnectionSaysWhy()
    {
        auto spec = zkSpec();
        spec.name = ConnectionName("nobody");
        spec.hosts = {{u"127.0.0.1"_s, 1}};
        m_backend->execute(Connect{spec});
        QTRY_COMPARE_WITH_TIMEOUT(m_seen.connections[spec.name].state, ConnectionStatus::State::Broken, 15'000);
        QVERIFY(m_seen.connections[spec.name].message.contains(u"127.0.0.1:1"_s));
    }
};

LOCKSCOPE_TEST(TestBackend)
#include "tst_backend.moc"
