// SPDX-License-Identifier: Apache-2.0
// What a Redis observer remembers between two looks, and the prefixes it asks the server to track.
#include "core/inspect/findings.h"
#include "core/inspect/redis/observer.h"
#include "core/inspect/redis/keysweeper.h"
#include "core/inspect/state/statesnapshot.h"
#include "tests/support/testmain.h"

using namespace lockscope::inspect;

namespace {

constexpr ServerTime noon{43'200s};
const RedisKey lockKey("orders-lock");

KeyView stringKey(const QByteArray &value)
{
    return KeyView{.key = lockKey, .type = KeyType::String, .value = value};
}

KeyView hashKey(std::vector<std::pair<QByteArray, QByteArray>> fields)
{
    return KeyView{.key = lockKey, .type = KeyType::Hash, .fields = std::move(fields)};
}

LockSnapshot heldBy(const QByteArray &id, std::optional<ServerTime> since, std::optional<ServerTime> expiresAt)
{
    Contender holder{.id = id, .role = Role::Holder, .heldSince = since, .expiresAt = expiresAt};
    LockSnapshot lock{.state = LockState::Held};
    lock.contenders.push_back(holder);
    return lock;
}

} // namespace

class TestRedisSeen : public QObject {
    Q_OBJECT
private slots:
    void firstSightIsNotTheMomentItCame()
    {
        SeenSince seen;
        seen.note(stringKey("a"), noon, false);
        QVERIFY(!seen.cameAt(lockKey));
        QCOMPARE(seen.heldAtLeastSince(lockKey), noon);
        seen.note(stringKey("a"), noon + 5s, true);
        QVERIFY(!seen.cameAt(lockKey));
        QCOMPARE(seen.heldAtLeastSince(lockKey), noon);
    }

    void anotherValueIsAnotherHolder()
    {
        SeenSince seen;
        seen.note(stringKey("a"), noon, false);
        seen.note(stringKey("b"), noon + 5s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 5s);
        seen.note(stringKey("b"), noon + 9s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 5s);
    }

    void aTokenThatIsKeptAliveIsRenewed()
    {
        SeenSince seen;
        auto view = stringKey("0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29");
        view.ttl = 30s;
        seen.note(view, noon, true);
        view.ttl = 20s;
        seen.note(view, noon + 10s, true);
        QVERIFY(!seen.behaviourOf(lockKey).renewed);
        view.ttl = 30s;
        seen.note(view, noon + 10s, true);
        QVERIFY(seen.behaviourOf(lockKey).renewed);
        QCOMPARE(seen.heldAtLeastSince(lockKey), noon);
    }

    // Ten minutes of life do not become a lock's in their last minute.
    void lifetimeIsTheLongestTtlSeen()
    {
        SeenSince seen;
        auto view = stringKey("0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29");
        view.ttl = 600s;
        seen.note(view, noon, true);
        view.ttl = 30s;
        seen.note(view, noon + 570s, true);
        QCOMPARE(seen.behaviourOf(lockKey).lifetime, 600s);
        SeenSince once;
        view.idle = 200s;
        once.note(view, noon, false);
        QCOMPARE(once.behaviourOf(lockKey).lifetime, 230s);
    }

    // By the same id: only its end, written anew, and that somebody was heard to let go tell it.
    void reacquiredLockHasANewHold_data()
    {
        QTest::addColumn<bool>("isReleased");
        QTest::addColumn<int>("later"); // ms by which it ends later
        QTest::addColumn<bool>("isAnew");
        QTest::newRow("renewed") << false << 10'000 << false;
        QTest::newRow("taken again") << true << 10'000 << true;
        QTest::newRow("taken again at once") << true << 1 << true;
        QTest::newRow("what was read was the next hold already") << true << 0 << false;
    }
    void reacquiredLockHasANewHold()
    {
        QFETCH(bool, isReleased);
        QFETCH(int, later);
        QFETCH(bool, isAnew);
        SeenSince seen;
        auto view = hashKey({{"3f1c6a52-8d0e-4b5f-9f0a-0d6e5c4b3a21:1", "1"}});
        view.expiresAt = noon + 30s;
        seen.note(view, noon, true);
        QVERIFY(!seen.noteRelease(RedisKey("another")));
        if (isReleased)
            QVERIFY(seen.noteRelease(lockKey));
        view.expiresAt = noon + 30s + std::chrono::milliseconds(later);
        const auto came = isAnew ? noon + 5s : noon;
        QCOMPARE(seen.cameAt(view, noon + 5s), came);
        seen.note(view, noon + 5s, true);
        QCOMPARE(seen.cameAt(lockKey), came);
        // The next renewal is one again.
        view.expiresAt = noon + 60s;
        seen.note(view, noon + 9s, true);
        QCOMPARE(seen.cameAt(lockKey), came);
        auto newer = heldBy("a", came, noon + 60s);
        newer.observed = noon + 5s;
        auto older = heldBy("a", noon, noon + 30s);
        older.observed = noon;
        steady(newer, older, true, came);
        QCOMPARE(newer.contenders.front().heldSince, came);
    }

    void oneTokenAfterAnotherIsAHandOver()
    {
        SeenSince seen;
        seen.note(stringKey("0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a29"), noon, true);
        KeyView gone{.key = lockKey};
        seen.note(gone, noon + 1s, true);
        QVERIFY(!seen.heldAtLeastSince(lockKey));
        seen.note(stringKey("11111111-7c8e-4b6e-9a3e-2f5d1c4b3a29"), noon + 2s, true);
        QVERIFY(seen.behaviourOf(lockKey).handedOver);
        QCOMPARE(seen.cameAt(lockKey), noon + 2s);
    }

    // A server before Redis 7 does not say to the millisecond when a key ends: a constant that ends later than it
    // did may be the next holder's.
    void aConstantThatEndsLaterMayBeAnothers()
    {
        SeenSince seen;
        auto view = stringKey("1");
        view.ttl = 30s;
        seen.note(view, noon, true);
        view.ttl = 25s;
        seen.note(view, noon + 5s, true);
        QCOMPARE(seen.cameAt(lockKey), noon);
        view.ttl = 30s;
        seen.note(view, noon + 6s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 6s);
    }

    void aMomentWrittenJustThenSaysSinceWhen()
    {
        SeenSince seen;
        auto view = stringKey(QByteArray::number(noon.time_since_epoch().count() + 1'700'000'000'000));
        const auto at = noon + std::chrono::milliseconds(1'700'000'000'000);
        view.idle = 40s;
        seen.note(view, at + 40s, false);
        QVERIFY(seen.behaviourOf(lockKey).momentOfTaking);
        view.idle = 0s;
        seen.note(view, at + 60s, false);
        QVERIFY2(seen.behaviourOf(lockKey).momentOfTaking, "we have read it since");
        SeenSince other;
        view.idle = 90s;
        other.note(view, at + 60s, false);
        QVERIFY2(!other.behaviourOf(lockKey).momentOfTaking, "written 30 s before it: until when");
    }

    void constantWithALaterExpiryIsAnotherHold()
    {
        SeenSince seen;
        auto view = stringKey("1");
        view.expiresAt = noon + 30s;
        seen.note(view, noon, false);
        seen.note(view, noon + 1s, true);
        QCOMPARE(seen.heldAtLeastSince(lockKey), noon);
        view.expiresAt = noon + 32s; // given back, and taken by the next one
        seen.note(view, noon + 2s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 2s);
        // A token is its holder's own, prolonged or not.
        auto token = stringKey("83427f40e55111f1a2e7fac9e99d7ff8");
        token.expiresAt = noon + 40s;
        seen.note(token, noon + 10s, true);
        token.expiresAt = noon + 50s;
        seen.note(token, noon + 20s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 10s);
    }

    void aKeyThatCameAfterTheFirstSnapshot()
    {
        SeenSince seen;
        seen.note(stringKey("a"), noon, true);
        QCOMPARE(seen.cameAt(lockKey), noon);
        KeyView gone{.key = lockKey};
        seen.note(gone, noon + 1s, true);
        QVERIFY(!seen.heldAtLeastSince(lockKey));
        seen.note(stringKey("a"), noon + 2s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 2s);
    }

    void reentryIsTheSameHolder()
    {
        SeenSince seen;
        seen.note(hashKey({{"u:1", "1"}}), noon, true);
        seen.note(hashKey({{"u:1", "2"}}), noon + 1s, true);
        QCOMPARE(seen.cameAt(lockKey), noon);
        seen.note(hashKey({{"u:2", "1"}}), noon + 2s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 2s);
        // Two names are not one longer name.
        seen.note(hashKey({{"a", "1"}, {"bc", "1"}}), noon + 3s, true);
        seen.note(hashKey({{"ab", "1"}, {"c", "1"}}), noon + 4s, true);
        QCOMPARE(seen.cameAt(lockKey), noon + 4s);
    }

    void expiryWithinTheErrorOfMeasurementStands_data()
    {
        const Rows<int, bool> row("movedMs", "same");
        row("not at all", 0, true);
        row("noise", 3, true);
        row("noise backwards", -50, true);
        row("renewed", 51, false);
        row("shortened", -10'000, false);
    }
    void expiryWithinTheErrorOfMeasurementStands()
    {
        QFETCH(int, movedMs);
        QFETCH(bool, same);
        const auto older = heldBy("t", noon, noon + 30s);
        auto newer = heldBy("t", noon, noon + 30s + std::chrono::milliseconds(movedMs));
        newer.observed = noon + 1s;
        newer.serverAhead = 2ms;
        steady(newer, older);
        QCOMPARE(isEquivalent(newer, older), same);
        QCOMPARE(newer.observed, noon + 1s);
        // What the server says to the millisecond has no such error.
        auto exact = heldBy("t", noon, noon + 30s + std::chrono::milliseconds(movedMs));
        const auto said = exact.contenders.front().expiresAt;
        steady(exact, older, true);
        QCOMPARE(exact.contenders.front().expiresAt, said);
    }

    void earlierSightingsStand()
    {
        auto newer = heldBy("t", noon + 9s, {});
        steady(newer, heldBy("t", noon, {}));
        QCOMPARE(newer.contenders.front().heldSince, noon);
        auto another = heldBy("u", noon + 9s, {});
        steady(another, heldBy("t", noon, {}));
        QCOMPARE(another.contenders.front().heldSince, noon + 9s);
    }

    // Nobody knows since when, but it is that long since we first saw it.
    void longHeld()
    {
        const Thresholds minute{1min, 1min};
        auto lock = heldBy("t", noon, {});
        lock.observed = noon + 59s;
        addLongHeld(lock, minute, {});
        QVERIFY(lock.findings.empty());
        QCOMPARE(nextLongHeld(lock, minute, {}), noon + 60s);
        lock.observed = noon + 61s;
        addLongHeld(lock, minute, {});
        QCOMPARE(lock.findings.size(), 1u);
        QCOMPARE(lock.findings.front().code, FindingCode::LongHeld);
        QCOMPARE(lock.findings.front().contenders, std::vector<QByteArray>{"t"});
        QVERIFY(!nextLongHeld(lock, minute, {}));

        auto old = heldBy("t", {}, {});
        old.observed = noon + 2min;
        addLongHeld(old, minute, {}, noon);
        QCOMPARE(old.findings.front().message, u"held for at least 2 m 00 s"_s);
        auto waiting = heldBy("t", noon, {});
        waiting.observed = noon + 2min;
        waiting.contenders.front().role = Role::Waiter;
        addLongHeld(waiting, minute, {}, noon);
        QVERIFY(waiting.findings.empty() && !nextLongHeld(waiting, minute, {}, noon));
    }

    void prefixes_data()
    {
        const Rows<QByteArrayList, QByteArrayList> row("keys", "wanted");
        row("none", {}, {});
        row("apart", {"b", "a"}, {"a", "b"});
        row("one covers another", {"lock:a:1", "lock:a", "lock:b"}, {"lock:a", "lock:b"});
        row("twice the same", {"x", "x"}, {"x"});
        row("a chain", {"aaa", "aa", "ab", "a"}, {"a"});
    }
    void aNameIsOfAFamily()
    {
        QCOMPARE(familyOf("app:orders:42"), QByteArray("app:orders:"));
        QCOMPARE(familyOf("orders-lock"), QByteArray("orders-"));
        QCOMPARE(familyOf("lock:"), QByteArray());
        QCOMPARE(familyOf("orders"), QByteArray());
        QCOMPARE(familyOf(""), QByteArray());
    }

    void prefixes()
    {
        QFETCH(QByteArrayList, keys);
        QFETCH(QByteArrayList, wanted);
        std::vector<RedisKey> asked;
        for (const auto &name : keys)
            asked.emplace_back(name);
        const auto got = prefixesOf(std::move(asked));
        QCOMPARE(QByteArrayList(got.begin(), got.end()), wanted);
    }
};

LOCKSCOPE_TEST(TestRedisSeen)
#include "tst_redis_seen.moc"
