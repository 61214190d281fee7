// SPDX-License-Identifier: Apache-2.0
// Rules 3a–3b, 6a and 20–21 of docs/layouts.md: semaphores whose permits stand in a sorted set or a hash; and how
// little it takes for such a key to be none.
#include "tests/support/testmain.h"
#include "znodetable.h"

#include "core/inspect/redis/recognise.h"

using namespace lockscope::inspect;
using std::chrono::milliseconds;

namespace {

const ServerTime semaphoreNow{milliseconds(1'700'000'000'000)};
const QByteArray firstUuid = "11111111-1111-4111-8111-111111111111";
const QByteArray secondUuid = "22222222-2222-4222-8222-222222222222";
const QByteArray symfonyToken = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=";
const QByteArray jobDigest = "0123456789abcdef0123456789abcdef";
const QByteArray jobId = "aabbccddeeff001122334455";
constexpr double nowMs = 1'700'000'000'000.0;

KeyView sortedSet(const QByteArray &key, std::vector<std::pair<QByteArray, double>> members, qint64 ttlMs = 10'000)
{
    KeyView view{.key = RedisKey(key), .type = KeyType::SortedSet};
    if (ttlMs >= 0)
        view.ttl = milliseconds(ttlMs);
    view.scored = std::move(members);
    return view;
}

KeyView fieldsAt(const QByteArray &key, std::vector<std::pair<QByteArray, QByteArray>> fields)
{
    return KeyView{.key = RedisKey(key), .type = KeyType::Hash, .fields = std::move(fields)};
}

KeyView stringAt(const QByteArray &key, const QByteArray &value)
{
    return KeyView{.key = RedisKey(key), .type = KeyType::String, .value = value};
}

QByteArray drawnSemaphore(const KeyView &main, const std::vector<KeyView> &companions = {}, bool all = false)
{
    RedisContext context{
        .connection = ConnectionName("redis"), .observed = semaphoreNow, .includeLowConfidence = all};
    const auto lock = recognise(main, companions, context);
    return lock ? table::draw(std::vector<LockSnapshot>{*lock}) : QByteArray();
}

} // namespace

class TestRecogniseSemaphores : public QObject {
    Q_OBJECT
private slots:
    void npmsSemaphoreIsASetOfUuids()
    {
        const auto held = sortedSet("semaphore:db", {{firstUuid, nowMs - 4000}, {secondUuid + "_0", nowMs - 2000}});
        QCOMPARE(drawnSemaphore(held), "semaphore:db redis-semaphore high held (redis-semaphore (npm))\n" + firstUuid
                                           + " holds permit -\n" + secondUuid + "_0 holds permit -");
        QVERIFY(isSuspect(held.key, held.type, held.ttl, false));
        QCOMPARE(drawnSemaphore(sortedSet("slots:db", held.scored)), QByteArray());
        QCOMPARE(drawnSemaphore(sortedSet("semaphore:db", held.scored, -1)), QByteArray());
        QCOMPARE(drawnSemaphore(sortedSet("semaphore:db", {{firstUuid, 17}})), QByteArray());
        QCOMPARE(drawnSemaphore(sortedSet("semaphore:db", {{firstUuid, nowMs}, {"alice", nowMs}})), QByteArray());
    }

    void symfonysLockEndsWithItsLastToken()
    {
        const auto written = sortedSet("invoice-17", {{symfonyToken, nowMs + 10'000}, {"__write__", nowMs + 10'000}});
        QCOMPARE(drawnSemaphore(written),
                 "invoice-17 redis-semaphore high held (Symfony Lock)\n" + symfonyToken + " holds exclusive -");
        QVERIFY(isWorthMeasuring(written.key, written.type, written.ttl));
        QVERIFY(hasSizeOfLock(written.key, written.type, written.key.bytes().size() + 180));
        QVERIFY(!hasSizeOfLock(written.key, written.type, 64 * 1024));
        const auto read = sortedSet("invoice-17", {{symfonyToken, nowMs + 10'000}});
        QCOMPARE(drawnSemaphore(read),
                 "invoice-17 redis-semaphore high held (Symfony Lock)\n" + symfonyToken + " holds read -");
        QCOMPARE(drawnSemaphore(sortedSet("invoice-17", read.scored, 60'000)), QByteArray());
        QCOMPARE(drawnSemaphore(sortedSet("board", {{"ann", nowMs + 10'000}})), QByteArray());
    }

    void pypisSemaphoreHasItsThreeKeys()
    {
        const auto grabbed = fieldsAt("jobs:GRABBED", {{"0", "1699999990.25"}, {"2", "1699999995"}});
        QCOMPARE(companionsToRead(grabbed).front(), RedisKey("jobs:EXISTS"));
        QCOMPARE(drawnSemaphore(grabbed, {stringAt("jobs:EXISTS", "ok")}),
                 QByteArray("jobs:GRABBED redis-semaphore high held (redis-semaphore (PyPI, Ruby))\n"
                            "0@1699999990250 holds permit -\n2@1699999995000 holds permit -"));
        QCOMPARE(drawnSemaphore(grabbed), QByteArray());
        QCOMPARE(drawnSemaphore(fieldsAt("jobs:GRABBED", {{"0", "soon"}}), {stringAt("jobs:EXISTS", "ok")}),
                 QByteArray());
    }

    void sidekiqsUniqueJobsAreItsJobIds()
    {
        const auto key = "uniquejobs:" + jobDigest + ":LOCKED";
        QCOMPARE(drawnSemaphore(fieldsAt(key, {{jobId, "1699999990.5"}})),
                 key + " redis-semaphore high held (sidekiq-unique-jobs)\n" + jobId + " holds exclusive -");
        QCOMPARE(drawnSemaphore(fieldsAt("app:" + jobDigest + ":RUN:LOCKED", {{jobId, "{\"worker\":\"W\"}"}})),
                 "app:" + jobDigest + ":RUN:LOCKED redis-semaphore medium held (sidekiq-unique-jobs)\n" + jobId
                     + " holds exclusive -");
        QCOMPARE(drawnSemaphore(fieldsAt("doors:LOCKED", {{jobId, "1"}})), QByteArray());
        QCOMPARE(drawnSemaphore(fieldsAt("app:" + jobDigest + ":LOCKED", {{"front", "1"}})), QByteArray());
        QCOMPARE(drawnSemaphore(fieldsAt(key, {{"bill-7", "1"}})),
                 key + " redis-semaphore medium held (sidekiq-unique-jobs)\nbill-7 holds exclusive -");
        // Beside them the string names the job queued last, which holds nothing.
        auto queued = stringAt("uniquejobs:" + jobDigest, jobId);
        queued.ttl = std::chrono::minutes(5);
        QVERIFY(drawnSemaphore(queued).contains(" holds exclusive"));
        QCOMPARE(drawnSemaphore(queued, {fieldsAt(key, {{jobId, "1"}})}), QByteArray());
        auto list = stringAt("uniquejobs:" + jobDigest + ":QUEUED", {});
        list.type = KeyType::List;
        QCOMPARE(drawnSemaphore(queued, {list}), QByteArray());
    }

    void countOfRunningJobsIsNoMark()
    {
        const auto count = stringAt("work:jobs:mail:lock", "1");
        const auto info = fieldsAt("work:jobs:mail:lock_info", {{jobId, "1"}});
        QVERIFY(drawnSemaphore(count).contains("!no-ttl")); // what any client may write
        QCOMPARE(drawnSemaphore(count, {info}, true), QByteArray());
        const auto beside = companionsToRead(count);
        QVERIFY(std::ranges::find(beside, info.key) != beside.end());
        const auto others = companionsToRead(stringAt("orders:lock", "1"));
        QVERIFY(std::ranges::find(others, RedisKey("orders:lock_info")) == others.end());
    }

    // Its name is all there is: neither free nor held is known.
    void aSemaphoreAtRestIsNotUnderstood()
    {
        for (const auto *value : {"3", "1", "0"}) {
            QCOMPARE(drawnSemaphore(stringAt("app:semaphore", value)), QByteArray());
            QCOMPARE(drawnSemaphore(stringAt("app:semaphore", value), {}, true), QByteArray());
            QVERIFY(!notUnderstoodReason(stringAt("app:semaphore", value)).isEmpty());
        }
    }

    // With its hash gone, the list of permits says what is left. Without both, no client can ever have one.
    void rubysSemaphoreAtRestHasItsPermitsInAList()
    {
        KeyView grabbed{.key = RedisKey("jobs:GRABBED")};
        KeyView available{.key = RedisKey("jobs:AVAILABLE"), .type = KeyType::List, .items = {"0", "1"}};
        const auto exists = stringAt("jobs:EXISTS", "1");
        const auto version = stringAt("jobs:VERSION", "1");
        for (const auto *key : {"jobs:EXISTS", "jobs:AVAILABLE", "jobs:VERSION"})
            QCOMPARE(companionOf(RedisKey(key)), grabbed.key);
        QCOMPARE(drawnSemaphore(grabbed, {exists, version, available}),
                 QByteArray("jobs:GRABBED redis-semaphore high free (redis-semaphore (PyPI, Ruby))"));
        QCOMPARE(
            drawnSemaphore(grabbed, {exists, version}),
            QByteArray("jobs:GRABBED redis-semaphore high contended (redis-semaphore (PyPI, Ruby)) !leftover-keys"));
        QCOMPARE(drawnSemaphore(grabbed, {exists}), QByteArray());
        QCOMPARE(drawnSemaphore(grabbed, {version}), QByteArray());
    }

    void dotNetsSemaphoreLeavesEndedMembers()
    {
        const QByteArray first = "web1_4711_11111111111111111111111111111111";
        const QByteArray second = "web1_4712_22222222222222222222222222222222";
        const auto set = sortedSet("renders", {{first, nowMs + 10'000}, {second, nowMs - 5000}}, 30'000);
        QCOMPARE(
            drawnSemaphore(set),
            QByteArray("renders redis-semaphore high held (DistributedLock (.NET)) !leftover-keys\nweb1_4711_{h1} "
                       "holds permit -"));
        QCOMPARE(drawnSemaphore(sortedSet("renders", {{first, nowMs}, {"ann", nowMs}})), QByteArray());
    }
};

LOCKSCOPE_TEST(TestRecogniseSemaphores)
#include "tst_recognise_semaphores.moc"
