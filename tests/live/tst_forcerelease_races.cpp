// SPDX-License-Identifier: Apache-2.0
// Force-release while the lock changes hands: whoever was not the one looked at keeps the lock.
//
// For every recipe of ZooKeeper and Redis that can be acquired and force-released, with its folder made anew between
// the two holders, so that names come again; for keys named as by those clients that are woken in the same step, and
// for Redisson's groups of locks, which are played here. Others watch the same servers meanwhile. How often:
// LOCKSCOPE_RACES (8 unless said, and 2 where no moment is drawn).
#include "tests/support/finish.h"
#include "tests/support/redlockfixture.h"
#include "tests/support/ctlfixture.h"

#include "core/base/random.h"
#include "core/operate/releasemethod.h"
#include "core/rules/catalogue.h"
#include "core/workspace/hold.h"
#include "tests/support/testmain.h"

using namespace lockscope;
using namespace lockscope::testing;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr int redlockNodes = 3;
constexpr int watchers = 3;
constexpr auto groupOfLocks = "redisson group of locks"; // which we do not acquire
constexpr int aroundAtMost = 20'000;                     // us: longer than an act takes, most of which is its record

// When the lock passes to the next holder.
enum class Swap {
    BeforeTheStart, // after `show`: the plan is made from an id of yesterday
    BeforeTheAct,   // after the preview
    Around,         // at a random moment around the act
};

struct Tally {
    int released = 0; // from the one that was looked at
    int refused = 0;
    int wrong = 0; // the next holder lost it
    int inGap = 0; // the same where the preview said that it can happen: a fixed ZooKeeper name
};

// One of the two that hold the lock in turn.
class Party {
public:
    virtual ~Party() = default;
    virtual Task<Result<QByteArray>> take() = 0; // the id it is shown under
    virtual Task<Result<void>> giveBack(Deadline deadline) = 0;
};

class OurParty final : public Party {
public:
    OurParty(Workspace &workspace, const HoldRequest &request) : m_held(workspace, request) {}

    Task<Result<QByteArray>> take() override
    {
        const auto had = co_await m_held.acquire(10s);
        if (!had)
            co_return had.error();
        co_return had->id;
    }
    Task<Result<void>> giveBack(Deadline deadline) override
    {
        auto released = co_await m_held.release(deadline);
        co_return released;
    }

private:
    HeldLock m_held;
};

// What Redisson's getMultiLock(group, values) leaves for one value of the group.
class GroupParty final : public Party {
public:
    GroupParty(redis::Connection &connection, QByteArray group, const QByteArray &owner)
        : m_connection(connection), m_group(std::move(group)), m_owner(owner)
    {
    }

    Task<Result<QByteArray>> take() override
    {
        const auto expires = QByteArray::number(QDateTime::currentMSecsSinceEpoch() + 60'000);
        const redis::Command set{
            "HSET", m_group, m_value, m_owner, m_stem + "expire_time", expires, m_stem + "lock_count", "1"};
        auto setting = m_connection.command(set, Deadline::never());
        const auto done = co_await setting;
        if (!done)
            co_return done.error();
        co_return m_value + ':' + m_owner;
    }
    Task<Result<void>> giveBack(Deadline deadline) override
    {
        const redis::Command remove{"HDEL", m_group, m_value, m_stem + "expire_time", m_stem + "lock_count"};
        auto removing = m_connection.command(remove, deadline);
        const auto done = co_await removing;
        if (!done)
            co_return done.error();
        co_return Result<void>();
    }

private:
    redis::Connection &m_connection;
    QByteArray m_group, m_owner, m_value = "YWJj";
    QByteArray m_stem = m_value + ':' + m_owner + ':';
};

} // namespace

class TestForceReleaseRaces : public QObject {
    Q_OBJECT

    Servers m_servers;
    std::vector<testing::Node> m_nodes;
    std::unique_ptr<redis::Connection> m_redis; // of those that are played
    std::unique_ptr<Workspace> m_workspace;
    std::vector<std::unique_ptr<Ctl>> m_watchers;
    Random m_random = Random(20261122);
    int m_lockCount = 0;

    static int races(Swap when)
    {
        const int asked = qEnvironmentVariableIntValue("LOCKSCOPE_RACES");
        return asked > 0 ? asked : when == Swap::Around ? 8 : 2;
    }
    Loop &loop() { return m_servers.loop; }
    Deadline soon() { return Deadline::after(loop(), 20s); }

    template <class T>
    Result<T> perform(Task<Result<T>> task)
    {
        return testing::finish(loop(), std::move(task));
    }

    // The folder of a queue goes with its last node, as container nodes do: numbers begin anew.
    void removeAll(const ZPath &path)
    {
        const auto listed = testing::await(m_servers.session->children(path, std::nullopt, soon()));
        for (const auto &name : listed ? listed->names : std::vector<NodeName>())
            removeAll(path.child(name));
        (void)testing::await(m_servers.session->remove(path, zk::anyVersion, soon()));
    }
    // The one lets go, the other takes it.
    Result<QByteArray> swap(Party &first, Party &second, const inspect::LockName &lock)
    {
        (void)perform(first.giveBack(soon()));
        if (lock.connection == ConnectionName("zk"))
            removeAll(ZPath(lock.name));
        return perform(second.take());
    }
    [[nodiscard]] bool stillHolds(const inspect::LockName &lock, const QByteArray &id)
    {
        const auto snapshot = perform(m_workspace->read(lock, soon()));
        const auto *holder = snapshot ? snapshot->find(id) : nullptr;
        return holder && holder->role == inspect::Role::Holder;
    }

    // A semaphore's lease looks asked for, not granted, until its maker has left the queue.
    [[nodiscard]] bool isShownAsHolder(const inspect::LockName &lock, const QByteArray &id)
    {
        return QTest::qWaitFor([&] { return stillHolds(lock, id); }, 5'000);
    }

    std::unique_ptr<Party> party(const HoldRequest &request, const QByteArray &groupOwner)
    {
        if (request.recipe == groupOfLocks)
            return std::make_unique<GroupParty>(*m_redis, request.lock.name, groupOwner);
        return std::make_unique<OurParty>(*m_workspace, request);
    }
    void race(Party &first, Party &second, const HoldRequest &request, bool wakes, Swap when, Tally &tally)
    {
        const auto had = perform(first.take());
        QVERIFY2(had, had ? "" : qPrintable(had.error().message));
        QVERIFY2(isShownAsHolder(request.lock, *had), "what was acquired is shown under another id");
        const auto toldApart = loop().now() + 2ms; // a constant's expiry is told to the millisecond
        while (loop().now() < toldApart)
            QCoreApplication::processEvents();
        Result<QByteArray> next(Error{});
        if (when == Swap::BeforeTheStart) {
            next = swap(first, second, request.lock);
            QVERIFY2(next, next ? "" : qPrintable(next.error().message));
        }
        const auto plan = perform(m_workspace->planForceRelease(request.lock, *had, soon()));
        if (when == Swap::BeforeTheAct)
            next = swap(first, second, request.lock);
        if (plan) {
            // Two that take redis-getset's key within a millisecond write the same: nobody accepts that risk here.
            QCOMPARE(plan->risk.isEmpty(), request.recipe != "redis-getset");
            QCOMPARE(!plan->wakeUps.isEmpty(), wakes);
            QCOMPARE(!plan->guard.redis().counterpart.isEmpty(), request.recipe == groupOfLocks);
            std::optional<Result<operate::ForceReleaseOutcome>> outcome;
            Scope acting(loop());
            acting.launch(keepResult(m_workspace->forceRelease(*plan, {}, soon()), &outcome));
            if (when == Swap::Around) {
                const auto until = loop().now() + std::chrono::microseconds(m_random.below(aroundAtMost));
                while (loop().now() < until)
                    QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
                next = swap(first, second, request.lock);
            }
            QTRY_VERIFY_WITH_TIMEOUT(outcome, patienceMs);
            ++(*outcome && (*outcome)->released ? tally.released : tally.refused);
        } else {
            QVERIFY2(plan.error().code == ErrorCode::Refused, qPrintable(plan.error().message));
            ++tally.refused;
        }
        QVERIFY2(next, next ? "" : qPrintable(next.error().message));
        const bool isSaid = when == Swap::Around && plan && !plan->exact && !plan->allWarnings().isEmpty();
        if (!isShownAsHolder(request.lock, *next))
            ++(isSaid ? tally.inGap : tally.wrong);
        (void)perform(second.giveBack(soon()));
    }

private slots:
    void initTestCase()
    {
        const auto why = m_servers.start();
        QVERIFY2(why.isEmpty(), qPrintable(why));
        const auto problem = testing::startNodes(loop(), redlockNodes, m_nodes);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        m_redis = redis::openConnection(loop(), testing::optionsFor(m_servers.redis->address()));
        QVERIFY(testing::becomes(*m_redis, redis::ConnectionState::Connected));
        WorkspaceOptions options;
        options.observe = false;
        m_workspace = std::make_unique<Workspace>(loop(), options, nullptr);
        QStringList hosts;
        for (const auto &node : m_nodes)
            hosts << displayHost(node.server->address());
        for (const auto &uri :
             {u"zk="_s + m_servers.zk(), u"redis="_s + m_servers.redisUri(), u"set=redis://"_s + hosts.join(u',')}) {
            auto spec = parseConnection(uri);
            QVERIFY(spec);
            QVERIFY(m_workspace->add(*spec));
        }
        for (int n = 0; n < watchers; ++n)
            m_watchers.push_back(
                std::make_unique<Ctl>(m_servers.connect() + QStringList{u"locks"_s, u"--all"_s, u"--watch"_s}));
    }
    void cleanupTestCase()
    {
        m_watchers.clear();
        m_workspace.reset();
        m_redis.reset();
        m_nodes.clear();
        m_servers.stop();
    }

    void theNextHolderKeepsIt_data()
    {
        QTest::addColumn<QByteArray>("recipe");
        QTest::addColumn<QByteArray>("connection");
        QTest::addColumn<QByteArray>("prefix");
        QTest::addColumn<bool>("wakes"); // whoever sleeps until its own client lets go
        for (const auto &recipe : recipes::catalogue()) {
            const bool isElsewhere = recipe.backend == BackendKind::MariaDb || recipe.backend == BackendKind::Etcd
                                     || recipe.backend == BackendKind::PostgreSql;
            if (!recipe.acquirable || isElsewhere)
                continue; // MariaDB: tst_forcerelease_races_sql; etcd: tst_etcd; PostgreSQL: tst_postgresql
            const bool isZooKeeper = recipe.backend == BackendKind::ZooKeeper;
            QTest::newRow(recipe.id) << recipe.id
                                     << QByteArray(isZooKeeper              ? "zk"
                                                   : recipe.id == "redlock" ? "set"
                                                                            : "redis")
                                     << QByteArray(isZooKeeper ? "/races/lock-" : "races-lock-") << false;
            if (recipe.release != recipes::ReleaseMechanism::CompareAndDelete)
                continue;
            auto names = QByteArrayList{"lock:races-"};
            if (recipe.id == "redis-set-nx")
                names << "app:races-"
                      << "bull:races:j";
            for (const auto &name : names)
                QTest::addRow("%s %s", recipe.id.constData(), name.constData())
                    << recipe.id << QByteArray("redis") << name << true;
        }
        QTest::newRow(groupOfLocks) << QByteArray(groupOfLocks) << QByteArray("redis") << QByteArray("races-group-")
                                    << false;
    }
    void theNextHolderKeepsIt()
    {
        QFETCH(const QByteArray, recipe);
        QFETCH(const QByteArray, connection);
        QFETCH(const QByteArray, prefix);
        QFETCH(const bool, wakes);
        HoldRequest request;
        request.recipe = recipe;
        request.lock = {ConnectionName(connection), prefix + QByteArray::number(++m_lockCount)};
        if (recipe == "redisson-semaphore") {
            HeldLock holder(*m_workspace, request);
            QVERIFY(perform(holder.acquire(10s)));
            const auto plan = perform(m_workspace->planForceRelease(request.lock, "anybody", soon()));
            QVERIFY2(!plan, "a plain semaphore does not know who has its permits");
            (void)perform(holder.release(soon()));
            return;
        }
        for (const auto when : {Swap::BeforeTheStart, Swap::BeforeTheAct, Swap::Around}) {
            Tally tally;
            for (int n = 0; n < races(when); ++n) {
                const auto first = party(request, "0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29:1");
                const auto second = party(request, "11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29:2");
                race(*first, *second, request, wakes, when, tally);
                if (QTest::currentTestFailed())
                    return;
            }
            static const char *const names[] = {"before the start", "before the act", "around the act"};
            qInfo("%-32s swapped %-17s released %d, refused %d, wrong holders %d, in the gap that was said %d",
                  QTest::currentDataTag(), names[static_cast<int>(when)], tally.released, tally.refused, tally.wrong,
                  tally.inGap);
            QCOMPARE(tally.wrong, 0);
            if (when != Swap::Around)
                QCOMPARE(tally.refused, races(when));
        }
    }
};

LOCKSCOPE_TEST(TestForceReleaseRaces)
#include "tst_forcerelease_races.moc"
