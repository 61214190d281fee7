// SPDX-License-Identifier: Apache-2.0
// What falls when a session ends, who inherits each of its locks, and the pulse of its lease.
#include "tests/support/fakedata.h"
#include "tests/support/testmain.h"
#include "ui/models/sessionsmodel.h"

using namespace lockscope::ui;
using inspect::LockName;
using inspect::LockSnapshot;
using inspect::SessionSnapshot;

namespace {

const SystemTime sessionNow = SystemTime(1'700'000'000s);

struct World {
    std::map<LockName, LockSnapshot> locks;

    void add(LockSnapshot lock)
    {
        const auto name = lock.lock;
        locks.insert_or_assign(name, std::move(lock));
    }
    [[nodiscard]] SessionFacts of(const QString &session) const
    {
        SessionSnapshot snapshot{.connection = ConnectionName("zk"), .session = session};
        for (const auto &[name, lock] : locks) {
            for (const auto &contender : lock.contenders) {
                if (contender.session == session)
                    (contender.role == inspect::Role::Holder ? snapshot.holds : snapshot.waits).push_back(name.name);
            }
        }
        const auto find = [this](const LockName &name) {
            const auto at = locks.find(name);
            return at == locks.end() ? nullptr : &at->second;
        };
        return sessionFactsOf(snapshot, find, sessionNow);
    }
};

LockSnapshot queue(const QByteArray &path, int waiters)
{
    return testing::queueLock("zk", path, waiters, testing::serverTime(sessionNow));
}

} // namespace

class TestSessionFacts : public QObject {
    Q_OBJECT
private slots:
    void everyLockSaysWhoInheritsIt()
    {
        World world;
        world.add(queue("/a", 2));
        world.add(queue("/b", 0));
        const auto holder = *queue("/a", 2).contenders[0].session;
        const auto facts = world.of(holder);
        QCOMPARE(facts.locks.size(), std::size_t(2));
        QVERIFY2(facts.locks[0].next.startsWith(u"→ 10.0.3."_s), qPrintable(facts.locks[0].next));
        QCOMPARE(facts.locks[1].next, u"no client waits: it becomes free"_s);
        QCOMPARE(facts.ifItEnds,
                 u"If this session ends: 2 locks fall: 1 to who waits next, for 1 no client waits."_s);
    }

    // Its other threads go with it.
    void itInheritsNothingFromItself()
    {
        World world;
        auto lock = queue("/a", 2);
        lock.contenders[1].session = lock.contenders[0].session;
        const auto third = whoIs(lock.contenders[2]);
        const auto holder = *lock.contenders[0].session;
        world.add(lock);
        const auto facts = world.of(holder);
        QVERIFY2(facts.locks[0].next.startsWith(u"→ "_s + third), qPrintable(facts.locks[0].next));
        QVERIFY(facts.ifItEnds.endsWith(u"its wait is given up."_s));
    }

    void aWaiterSeesItsPlaceAndWhoIsBeforeIt()
    {
        World world;
        const auto lock = queue("/a", 3);
        world.add(lock);
        const auto facts = world.of(*lock.contenders[2].session);
        QCOMPARE(facts.locks[0].place, u"waits, 2 of 3"_s);
        QCOMPARE(facts.locks[0].next, u"behind "_s + whoIs(lock.contenders[1]));
    }

    // A lease does not end with a connection.
    void leaseLockOutlivesItsConnection()
    {
        World world;
        auto lock = testing::redisLock("zk", "orders", 12s, testing::serverTime(sessionNow));
        lock.contenders[0].session = u"7"_s;
        world.add(lock);
        const auto facts = world.of(u"7"_s);
        QVERIFY2(facts.locks[0].next.startsWith(u"stays until its lease ends, in "_s),
                 qPrintable(facts.locks[0].next));
        QVERIFY2(facts.ifItEnds.startsWith(u"If this session ends: 1 lock stays"_s), qPrintable(facts.ifItEnds));
    }

    void otherKeysOfALeaseGoWithIt()
    {
        inspect::SessionSnapshot lease{.alsoEnds = {"seen/a"}, .alsoEndsCount = 1};
        const auto said = [&] {
            return sessionFactsOf(
                       lease, [](const auto &) { return nullptr; }, sessionNow)
                .ifItEnds;
        };
        QCOMPARE(said(), u"If this session ends: 1 other key goes with it, seen/a."_s);
        lease.alsoEndsCount = 500;
        QVERIFY2(said().contains(u"500 other keys go with it, seen/a first"_s), qPrintable(said()));
    }

    void aPulseCountsRenewalsAndNothingElse()
    {
        LeasePulse pulse;
        QCOMPARE(pulse.text(sessionNow), u"its lease is unknown"_s);
        pulse.heard(sessionNow + 10s, sessionNow);
        pulse.heard(sessionNow + 10s + 40ms, sessionNow + 1s); // clocks agree no better
        QCOMPARE(pulse.text(sessionNow + 2s), u"no renewal was seen in 2.0 s"_s);
        for (int i = 1; i <= 4; ++i)
            pulse.heard(sessionNow + 10s + i * 5s, sessionNow + i * 5s);
        QCOMPARE(pulse.text(sessionNow + 22s),
                 u"renewed 4 times in 22 s, about every 5.0 s; the last time 2.0 s ago"_s);
    }
};

LOCKSCOPE_TEST(TestSessionFacts)
#include "tst_sessionfacts.moc"
