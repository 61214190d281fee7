// SPDX-License-Identifier: Apache-2.0
// Several force-releases: which locks they are about, and that they stop at the first surprise; and which gentler
// ways there are for whom.
#include "core/async/scope.h"
#include "core/async/virtualloop.h"
#include "core/inspect/findings.h"
#include "core/operate/forcerelease.h"
#include "core/operate/releasemethod.h"
#include "tests/support/testmain.h"

#include <QTemporaryDir>
#include <QTest>

using namespace lockscope;
using namespace lockscope::operate;
using namespace lockscope::inspect;
using namespace Qt::StringLiterals;

namespace {

LockSnapshot heldLock(int n, const QString &session = u"0x10"_s)
{
    LockSnapshot lock;
    lock.lock = {ConnectionName("zk"), "/locks/" + QByteArray::number(n)};
    lock.recipe = "curator-mutex";
    lock.confidence = Confidence::High;
    lock.state = LockState::Held;
    Contender holder;
    holder.id = "_c_0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29-lock-" + QByteArray::number(n).rightJustified(10, '0');
    holder.role = Role::Holder;
    holder.session = session;
    holder.guard = inspect::ZnodeIdentity{.path = lock.lock.name + '/' + holder.id, .czxid = 100 + n, .owner = 0x10};
    lock.contenders = {holder};
    return lock;
}

LockSnapshot withWaiter(LockSnapshot lock)
{
    auto waiter = lock.contenders.front();
    waiter.id = "_c_11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29-lock-0000009999";
    waiter.role = Role::Waiter;
    waiter.session = u"0x11"_s;
    waiter.guard = inspect::ZnodeIdentity{
        .path = lock.lock.name + '/' + waiter.id, .czxid = waiter.guard.znode().czxid + 1, .owner = 0x11};
    lock.contenders.push_back(waiter);
    return lock;
}

std::vector<const LockSnapshot *> pointersTo(const std::vector<LockSnapshot> &locks)
{
    std::vector<const LockSnapshot *> all;
    for (const auto &lock : locks)
        all.push_back(&lock);
    return all;
}

// A server in memory: who holds what. Records as the audit file would have them.
struct BulkWorld {
    VirtualLoop loop;
    QTemporaryDir folder;
    AuditFile audit{folder.filePath(u"audit.jsonl"_s)};
    std::map<QByteArray, LockSnapshot> locks; // by name
    std::vector<QByteArray> alsoLost;         // what a fresh look at the server adds to every plan
    int sent = 0;
    int unrecordedAt = 0;               // the result of that one cannot be written
    std::function<void(int)> afterSend; // so many were sent
    QList<int> heard;

    Task<Result<ForceReleasePlan>> plan(BulkTarget target, Deadline)
    {
        const auto at = locks.find(target.lock.name);
        if (at == locks.end())
            co_return Error{ErrorCode::NoNode, u"there is no such lock"_s};
        auto planned = planWay(at->second, target.contender, target.way);
        if (planned)
            planned->otherLocksLost = alsoLost;
        co_return planned;
    }
    Task<Result<ForceReleaseOutcome>> act(ForceReleasePlan planned, QString reason, Deadline)
    {
        AuditRecord record;
        record.action = u"force-release"_s;
        record.lock = planned.before.lock.text();
        record.holder = planned.holder;
        record.reason = reason;
        record.phase = u"result"_s;
        record.outcome = u"released"_s;
        if (const auto written = audit.append(record); !written)
            co_return written.error();
        locks.erase(planned.before.lock.name);
        ++sent;
        if (afterSend)
            afterSend(sent);
        ForceReleaseOutcome outcome;
        outcome.released = outcome.done = true;
        outcome.isRecorded = sent != unrecordedAt;
        outcome.message = outcome.isRecorded ? QString() : u"The result is missing in the audit log"_s;
        co_return outcome;
    }
    Task<void> keep(std::vector<BulkTarget> targets, BulkTools tools, std::optional<BulkReport> *kept)
    {
        const auto reason = u"the night of the 22nd"_s;
        auto releasing = bulkRelease(targets, tools, reason);
        const auto report = co_await releasing;
        kept->emplace(*report);
    }
    BulkReport run(const std::vector<BulkTarget> &targets)
    {
        BulkTools tools;
        tools.plan = [this](BulkTarget target, Deadline by) { return plan(std::move(target), by); };
        tools.act = [this](ForceReleasePlan planned, QString reason, Deadline by) {
            return act(std::move(planned), std::move(reason), by);
        };
        tools.progressed = [this](int done) { heard << done; };
        tools.loop = &loop;
        std::optional<BulkReport> report;
        Scope scope(loop);
        scope.launch(keep(targets, tools, &report));
        loop.runUntilIdle();
        return report.value_or(BulkReport());
    }
};

QByteArrayList wordsFor(const LockSnapshot &lock, std::size_t contender = 0)
{
    QByteArrayList words;
    for (const auto &offer : waysFor(lock, lock.contenders[contender]))
        words << wordOf(offer.way);
    return words;
}

} // namespace

class TestBulkRelease : public QObject {
    Q_OBJECT
private slots:
    // Two of one host are told apart.
    void targetHasItsOwnNameAndAddress()
    {
        auto lock = heldLock(1);
        auto &holder = lock.contenders.front();
        const auto who = [&lock] {
            return targetsOfSession(pointersTo({lock}), ConnectionName("zk"), u"0x10"_s).front().who;
        };
        QCOMPARE(who(), QString());
        holder.endpoint = u"127.0.0.1:60958"_s;
        QCOMPARE(who(), u"127.0.0.1:60958"_s);
        holder.identity = "ledger-2";
        QCOMPARE(who(), u"ledger-2 · 127.0.0.1:60958"_s);
        holder.label = u"billing"_s;
        QCOMPARE(who(), u"billing · 127.0.0.1:60958"_s);
        holder.endpoint.reset();
        holder.identity.reset();
        QCOMPARE(who(), u"billing"_s);
    }
    void stopsWhereALockChangedHands()
    {
        BulkWorld world;
        std::vector<LockSnapshot> locks;
        for (int n = 1; n <= 30; ++n)
            locks.push_back(heldLock(n));
        for (const auto &lock : locks)
            world.locks[lock.lock.name] = lock;
        const auto targets = targetsOfSession(pointersTo(locks), ConnectionName("zk"), u"0x10"_s);
        QCOMPARE(targets.size(), std::size_t(30));
        // The twelfth passes to another while the eleventh is released.
        const auto twelfth = targets[11].lock.name;
        world.afterSend = [&](int sent) {
            if (sent == 11)
                world.locks[twelfth].contenders[0].id = "_c_22222222-7c8e-4b6e-9a3e-2f5d1c4b3a29-lock-0000000099";
        };
        const auto report = world.run(targets);
        QCOMPARE(report.done.size(), std::size_t(11));
        QVERIFY(report.stoppedAt && report.stoppedAt->lock.name == twelfth);
        QVERIFY2(report.why.contains(u"does not hold"_s), qPrintable(report.why));
        QCOMPARE(report.left.size(), std::size_t(18));
        QCOMPARE(world.sent, 11);
        QCOMPARE(world.heard.last(), 11);
        const auto records = world.audit.read(nullptr);
        QVERIFY(records);
        QCOMPARE(records->size(), std::size_t(11));
        for (std::size_t i = 11; i < targets.size(); ++i)
            QVERIFY(world.locks.contains(targets[i].lock.name));
    }

    void doesAllWhereNothingSurprises()
    {
        BulkWorld world;
        const std::vector<LockSnapshot> locks{heldLock(1), heldLock(2), heldLock(3, u"0x99"_s)};
        for (const auto &lock : locks)
            world.locks[lock.lock.name] = lock;
        const auto report = world.run(targetsOfSession(pointersTo(locks), ConnectionName("zk"), u"0x10"_s));
        QCOMPARE(report.done.size(), std::size_t(2));
        QVERIFY(!report.stoppedAt && report.left.empty());
        QVERIFY(world.locks.contains("/locks/3"));
    }

    // By its id it is the same: the dialog was open while a pooled connection did something else.
    void stopsWhereTheResultCannotBeRecorded()
    {
        BulkWorld world;
        const std::vector<LockSnapshot> locks{heldLock(1), heldLock(2)};
        for (const auto &lock : locks)
            world.locks[lock.lock.name] = lock;
        world.unrecordedAt = 1;
        const auto report = world.run(targetsOfSession(pointersTo(locks), ConnectionName("zk"), u"0x10"_s));
        QCOMPARE(world.sent, 1);
        QVERIFY(report.stoppedAt && report.why.contains(u"missing in the audit log"_s));
        QVERIFY(world.locks.contains("/locks/2"));
    }

    void stopsAtAHoldThatWasTakenSince()
    {
        using namespace std::chrono_literals;
        for (const auto since : {1030s, 400s}) {
            BulkWorld world;
            LockSnapshot lock;
            lock.lock = {ConnectionName("mariadb"), "GET_LOCK#nightly"};
            lock.backend = BackendKind::MariaDb;
            lock.recipe = "sql-get-lock";
            lock.confidence = Confidence::High;
            lock.observed = ServerTime(1000s);
            Contender holder;
            holder.id = "17@1763780400000";
            holder.role = Role::Holder;
            holder.session = u"17"_s;
            holder.guard = inspect::SqlIdentity{"17"};
            holder.heldSince = ServerTime(400s);
            lock.contenders = {holder};
            const auto targets = targetsOf({&lock}, [](const LockSnapshot &, const Contender &) { return true; });
            QCOMPARE(targets.size(), std::size_t(1));
            lock.observed = ServerTime(1060s);
            lock.contenders[0].heldSince = ServerTime(since);
            world.locks[lock.lock.name] = lock;
            const auto report = world.run(targets);
            if (since == 400s) {
                QCOMPARE(world.sent, 1);
                continue;
            }
            QVERIFY(report.done.empty() && report.stoppedAt);
            QVERIFY2(report.why.contains(u"acquired it again"_s), qPrintable(report.why));
            QCOMPARE(world.sent, 0);
        }
    }

    // What nothing tells from the next hold is looked at by itself.
    void stopsAtARisk()
    {
        BulkWorld world;
        LockSnapshot lock;
        lock.lock = {ConnectionName("redis"), "orders"};
        lock.backend = BackendKind::Redis;
        lock.recipe = "redis-setnx-expire";
        lock.confidence = Confidence::High;
        Contender holder;
        holder.id = "1";
        holder.role = Role::Holder;
        holder.guard = inspect::RedisIdentity{.value = "1", .comesAgain = true};
        lock.contenders = {holder};
        world.locks["orders"] = lock;
        const auto report =
            world.run(targetsOf({&lock}, [](const LockSnapshot &, const Contender &) { return true; }));
        QVERIFY(report.done.empty() && report.stoppedAt);
        QVERIFY2(report.why.contains(u"nothing was sent"_s), qPrintable(report.why));
    }

    // To end a connection ends all it holds.
    void killsAnSqlConnectionOnce()
    {
        std::vector<LockSnapshot> locks;
        for (const char *name : {"shop.stock#id=1", "shop.stock#id=2"}) {
            LockSnapshot lock;
            lock.lock = {ConnectionName("db"), name};
            lock.backend = BackendKind::MariaDb;
            lock.recipe = "sql-for-update";
            lock.confidence = Confidence::High;
            Contender holder;
            holder.id = "13@1700000000711";
            holder.role = Role::Holder;
            holder.session = u"13"_s;
            holder.guard = inspect::SqlIdentity{"trx 4711 started 1700000000000"};
            lock.contenders = {holder};
            locks.push_back(lock);
        }
        const auto targets = targetsOfSession(pointersTo(locks), ConnectionName("db"), u"13"_s);
        QCOMPARE(targets.size(), std::size_t(1));
        QCOMPARE(targets[0].goWithIt, (std::vector<LockName>{locks[1].lock}));
        BulkWorld world;
        for (const auto &lock : locks)
            world.locks[lock.lock.name] = lock;
        // What it took since was not chosen.
        world.alsoLost = {locks[1].lock.name, "shop.orders#id=7"};
        const auto stopped = world.run(targets);
        QVERIFY(stopped.done.empty() && stopped.stoppedAt && world.sent == 0);
        QVERIFY2(stopped.why.contains(u"it also holds shop.orders#id=7."_s), qPrintable(stopped.why));
        world.alsoLost = {locks[1].lock.name};
        QCOMPARE(world.run(targets).done.size(), std::size_t(1));
    }

    void uncertainLocksAreNotBulkReleased()
    {
        auto guess = heldLock(1);
        guess.confidence = Confidence::Low;
        auto election = heldLock(2);
        election.recipe = "curator-leader-latch";
        QVERIFY(targetsOfSession({&guess, &election}, ConnectionName("zk"), u"0x10"_s).empty());
    }

    void staleEntriesAreThoseOfTheirTwoFindings()
    {
        auto persistent = heldLock(1);
        persistent.contenders[0].guard.edit<inspect::ZnodeIdentity>().owner = 0;
        addFinding(persistent, FindingCode::PersistentNode, u"outlives its session"_s, {persistent.contenders[0].id});
        auto stale = withWaiter(heldLock(2));
        stale.contenders[1].guard.edit<inspect::ZnodeIdentity>().owner = 0;
        addFinding(stale, FindingCode::StaleQueue, u"a waiter that is gone"_s, {stale.contenders[1].id});
        // Ephemeral, and without a connection for now: it may come back within its session.
        auto away = withWaiter(heldLock(3));
        addFinding(away, FindingCode::StaleQueue, u"no connection"_s, {away.contenders[1].id});
        const auto targets = staleEntriesOf({&persistent, &stale, &away});
        QCOMPARE(targets.size(), std::size_t(2));
        QCOMPARE(targets[0].way, ReleaseAction::KillWaiter); // first: a release behind it would make it the holder
        QCOMPARE(targets[0].contender, stale.contenders[1].id);
        QCOMPARE(targets[1].way, ReleaseAction::Release);
        QCOMPARE(targets[1].contender, persistent.contenders[0].id);
        QVERIFY(targets[0].isStale && targets[1].isStale);
        // By then the second is not stale any more.
        BulkWorld world;
        world.locks[stale.lock.name] = stale;
        world.locks[persistent.lock.name] = persistent;
        world.locks[persistent.lock.name].findings.clear();
        const auto report = world.run(targets);
        QCOMPARE(report.done.size(), std::size_t(1));
        QCOMPARE(world.sent, 1);
        QVERIFY2(report.why.contains(u"no longer a leftover entry"_s), qPrintable(report.why));
    }

    void theWaysOfAZooKeeperQueue()
    {
        auto lock = withWaiter(heldLock(1));
        QCOMPARE(wordsFor(lock), (QByteArrayList{"revoke", "release"}));
        QCOMPARE(wordsFor(lock, 1), (QByteArrayList{"kill-waiter"}));
        lock.recipe = "kazoo-lock"; // which takes no notice of Curator's mark
        QCOMPARE(wordsFor(lock), (QByteArrayList{"release"}));
        lock.recipe = "curator-semaphore"; // half of whose waiter would stay
        QCOMPARE(wordsFor(lock, 1), QByteArrayList());
        const auto plan = planWay(withWaiter(heldLock(1)), lock.contenders[1].id, ReleaseAction::KillWaiter);
        QVERIFY(plan && plan->exact);
        QVERIFY2(
            plan->commands.last().contains(u"check "_s + QString::fromUtf8(lock.contenders[0].guard.znode().path)),
            qPrintable(plan->commands.last()));
        QVERIFY(plan->nextHolder == std::nullopt);
    }

    // A reader waits only as long as a writer is before it.
    void aReaderIsGuardedByTheWriterBeforeIt()
    {
        auto lock = withWaiter(withWaiter(heldLock(1)));
        lock.recipe = "zk-shared";
        auto &holder = lock.contenders[0], &writer = lock.contenders[1], &reader = lock.contenders[2];
        holder.mode = reader.mode = Mode::Read;
        writer.mode = Mode::Write;
        reader.id += "7";
        reader.guard.edit<inspect::ZnodeIdentity>().path += "7";
        reader.guard.edit<inspect::ZnodeIdentity>().owner = 0x12;
        const auto plan = planWay(lock, reader.id, ReleaseAction::KillWaiter);
        QVERIFY(plan);
        QVERIFY2(plan->commands.last().contains(u"check "_s + QString::fromUtf8(writer.guard.znode().path) + u';'),
                 qPrintable(plan->commands.last()));
        writer.mode = Mode::Read; // then nothing is seen that keeps it waiting
        QCOMPARE(wordsFor(lock, 2), QByteArrayList());
    }

    void aLeaseIsShortenedOnlyWhereItIsTheHoldersOwn()
    {
        LockSnapshot lock;
        lock.lock = {ConnectionName("redis"), "orders"};
        lock.backend = BackendKind::Redis;
        lock.recipe = "redis-set-nx";
        lock.observed = ServerTime(std::chrono::milliseconds(1'700'000'000'000));
        Contender holder;
        holder.id = holder.guard.edit<inspect::RedisIdentity>().value = "token";
        holder.role = Role::Holder;
        holder.expiresAt = lock.observed + std::chrono::seconds(25);
        lock.contenders = {holder};
        QCOMPARE(wordsFor(lock), (QByteArrayList{"shorten-ttl", "release"}));
        lock.contenders[0].expiresAt = lock.observed + std::chrono::seconds(9);
        QCOMPARE(wordsFor(lock), (QByteArrayList{"release"})); // it ends as soon by itself
        lock.contenders[0].expiresAt.reset();
        QCOMPARE(wordsFor(lock), (QByteArrayList{"shorten-ttl", "release"})); // it would never end
        lock.contenders[0].guard.edit<inspect::RedisIdentity>().comesAgain = true;
        QCOMPARE(wordsFor(lock), (QByteArrayList{"release"}));
        lock.contenders[0].guard.edit<inspect::RedisIdentity>().comesAgain = false;
        lock.recipe = "redisson-fair-lock"; // whose waiters wrote down when it ends
        QCOMPARE(wordsFor(lock), (QByteArrayList{"release"}));
        lock.recipe = "redis-semaphore"; // of most clients it ends by what each of them thinks
        QCOMPARE(wordsFor(lock), (QByteArrayList{"release"}));
        lock.clientTraits.exclusiveMark = "__write__"; // of this one by what is written down, for each
        lock.contenders.push_back(lock.contenders[0]);
        QCOMPARE(wordsFor(lock), (QByteArrayList{"shorten-ttl", "release"}));
        lock.clientTraits = {};
        lock.recipe = "redisson-semaphore"; // so are permits
        QCOMPARE(wordsFor(lock), (QByteArrayList{"shorten-ttl", "release"}));
        lock.contenders.pop_back();
        lock.recipe = "redis-getset"; // which ends by its value
        QCOMPARE(wordsFor(lock), (QByteArrayList{"release"}));
    }

    void waysHaveWords()
    {
        for (const auto way : {ReleaseAction::Revoke, ReleaseAction::ShortenTtl, ReleaseAction::KillWaiter,
                               ReleaseAction::KillQuery, ReleaseAction::Release, ReleaseAction::EndLease})
            QCOMPARE(wayNamed(QString::fromLatin1(wordOf(way))), std::optional(way));
        QVERIFY(!wayNamed(u"nicely"_s));
        QCOMPARE(actionOf(ReleaseAction::Release), u"force-release"_s);
    }
};

LOCKSCOPE_TEST(TestBulkRelease)
#include "tst_bulkrelease.moc"
