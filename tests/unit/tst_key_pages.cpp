// SPDX-License-Identifier: Apache-2.0
// The pages of a sweep of Redis over a line of 50 ms: stretches of the server's table are gone through at once where
// its cursors are places, no key is left out, and what is lost is asked for again.
#include "tests/support/testmain.h"
#include "tests/unit/quietredis.h"

using namespace lockscope::inspect;
using namespace std::chrono_literals;
using lockscope::testing::NoSink;
using lockscope::testing::QuietRedis;

namespace {

constexpr std::size_t lockEvery = 100;

struct FarRedis {
    VirtualLoop loop;
    QuietRedis server{loop};
    NoSink sink;
    std::unique_ptr<RedisObserver> observer;

    explicit FarRedis(std::size_t keys)
    {
        server.answersIn = 50ms;
        for (std::size_t i = 0; i < keys; ++i)
            server.keys.push_back((i % lockEvery == 0 ? "lock:" : "user:")
                                  + QByteArray::number(qulonglong(i)).rightJustified(8, '0'));
        std::ranges::sort(server.keys);
    }
    // Returns the duration of the sweep, or the maximum if it did not end.
    Duration sweep(Duration atMost = 60s, double changesPerMs = 0)
    {
        const ObserverOptions options{.follow = changesPerMs > 0};
        observer = std::make_unique<RedisObserver>(server, ConnectionName("redis"), options, sink);
        observer->start();
        const auto begun = loop.now();
        while (!observer->firstSnapshot().isComplete() && loop.now() - begun < atMost) {
            loop.advance(1ms);
            if (loop.now() - begun < 500ms) // changes are not followed yet
                continue;
            for (due += changesPerMs; due >= 1; due -= 1)
                server.notifyOf("changed:" + QByteArray::number(++changes));
        }
        return observer->firstSnapshot().isComplete() ? loop.now() - begun : Duration::max();
    }
    double due = 0;
    qint64 changes = 0;
    [[nodiscard]] bool hasAllLocks() const { return observer->snapshots().size() == server.keys.size() / lockEvery; }
};

} // namespace

class TestKeyPages : public QObject {
    Q_OBJECT

private slots:
    void cursorsArePlacesInTheTable()
    {
        QCOMPARE(placeOf("0"), quint64(0));
        QCOMPARE(placeOf("1"), quint64(1) << 63);
        QCOMPARE(placeOf("2"), quint64(1) << 62);
        QCOMPARE(cursorAt(quint64(3) << 62), "3");
        QCOMPARE(placeOf("node-1:7"), std::nullopt);
    }
    void aLongLineIsFilled()
    {
        FarRedis far(200'000);
        far.server.hasPlaces = true;
        const auto took = far.sweep();
        QVERIFY2(took < 3s, qPrintable(QString::number(took / 1ms))); // page by page 12.5 s
        QVERIFY(far.hasAllLocks());
        // No page is asked for twice, but for the two in the midst of which a stretch ends.
        QVERIFY(far.server.counts["SCAN"] <= 2 * (200'000 / 800 + 2 * 16));
    }
    void cursorsOfAnotherKindAreFollowed()
    {
        FarRedis far(20'000);
        QVERIFY(far.sweep() >= 20'000 / 800 * 50ms);
        QVERIFY(far.hasAllLocks());
        QCOMPARE(far.server.counts["SCAN"], 2 * 20'000 / 800);
    }
    // By the number of keys that it counts.
    void aServerThatLeavesKeysOutIsSweptAgain()
    {
        FarRedis far(20'000);
        far.server.hasPlaces = true;
        far.server.losesKeys = 1000;
        QVERIFY(far.sweep() < 60s);
        QVERIFY(far.hasAllLocks());
        QVERIFY(far.server.counts["SCAN"] > 2 * 20'000 / 800);
    }
    // What two stretches name is no key more.
    void aServerThatLeavesFewKeysOutIsSweptAgain()
    {
        FarRedis far(200'000);
        far.server.hasPlaces = true;
        far.server.losesKeys = 250;
        QVERIFY(far.sweep() < 60s);
        QVERIFY(far.hasAllLocks());
    }
    void expiredKeysDoNotRepeatTheSweep()
    {
        FarRedis far(20'000);
        far.server.hasPlaces = true;
        far.server.expired = 1000;
        QVERIFY(far.sweep() < 60s);
        QVERIFY(far.hasAllLocks());
        QVERIFY(far.server.counts["SCAN"] <= 2 * (20'000 / 800 + 2 * 16));
    }
    // The reader always has a next batch.
    void steadyChangesDoNotStopTheSweep()
    {
        FarRedis far(20'000);
        far.server.hasPlaces = true;
        const auto took = far.sweep(60s, 0.15);
        QVERIFY(far.changes > 0);
        QVERIFY2(took < 10s, qPrintable(QString::number(took / 1ms)));
        QVERIFY(far.hasAllLocks());
    }
    void moreChangesThanAreReadDoNotRestartTheSweep()
    {
        FarRedis far(20'000);
        far.server.hasPlaces = true;
        far.due = 30'000; // more than are queued
        QVERIFY(far.sweep(60s, 2.5) < 60s);
        QVERIFY(far.changes > 30'000);
        QVERIFY(far.hasAllLocks());
    }
    void aPageThatWasLostIsAskedForAgain()
    {
        FarRedis far(20'000);
        far.server.hasPlaces = true;
        far.sweep(500ms); // under way
        far.server.isMute = true;
        far.loop.advance(6s); // longer than an answer is waited for
        far.server.isMute = false;
        far.loop.advance(10s);
        QVERIFY(far.observer->firstSnapshot().isComplete());
        QVERIFY(far.hasAllLocks());
    }
    void nothingIsHeardOnceItIsOver()
    {
        FarRedis far(20'000);
        far.server.hasPlaces = true;
        far.sweep(500ms);
        far.observer.reset();
        far.loop.advance(1s); // what was out is answered
        QVERIFY(far.sweep() < 60s);
        QVERIFY(far.hasAllLocks());
    }
};

LOCKSCOPE_TEST(TestKeyPages)
#include "tst_key_pages.moc"
