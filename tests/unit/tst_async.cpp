// SPDX-License-Identifier: Apache-2.0
// Coroutines: tasks, completions, scopes and timers on virtual time.
#include <version>

#include "core/async/completion.h"
#include "core/async/freelist.h"
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/async/virtualloop.h"
#include "core/async/passwordsource.h"
#include "core/base/random.h"
#include "tests/support/testmain.h"

#include <QCoreApplication>
#include <QTimer>

#include <array>
#include <atomic>
#include <latch>
#include <map>

namespace {

QByteArrayList &closed()
{
    static QByteArrayList all;
    return all;
}
void closeWay(std::chrono::milliseconds)
{
    closed() << "way";
}
void closeSession(std::chrono::milliseconds)
{
    closed() << "session";
}
void closeOtherSession(std::chrono::milliseconds)
{
    closed() << "other session";
}

Task<int> sumOf(Completion<int> first, Completion<int> second)
{
    const int a = co_await first;
    const int b = co_await second;
    co_return a + b;
}

Task<int> readyValue(int value)
{
    co_return value;
}

Task<void> storeSum(Completion<int> first, Completion<int> second, int &out)
{
    out = co_await sumOf(first, second);
}

Task<void> countTo(int count, int &out)
{
    for (int i = 0; i < count; ++i) {
        const int step = co_await readyValue(1);
        out += step;
    }
}

Task<void> handOver(Completion<int> mine, Completion<int> next)
{
    const int value = co_await mine;
    next.complete(value + 1);
}

// More than nine words.
using LargeAnswer = std::array<std::shared_ptr<int>, 6>;
Task<LargeAnswer> answerLarge(Completion<bool> go, std::shared_ptr<int> kept)
{
    co_await go;
    LargeAnswer answer;
    answer.back() = std::move(kept);
    co_return std::move(answer);
}
Task<void> takeLarge(Task<LargeAnswer> asked, LargeAnswer &got)
{
    got = co_await asked;
}

struct Gone : LocallyCounted {
    explicit Gone(bool &isGone) : m_isGone(isGone) {}
    ~Gone() override { m_isGone = true; }

private:
    bool &m_isGone;
};

} // namespace

class TestAsync : public QObject {
    Q_OBJECT
private slots:
    // A way that was waited for first still had its session, and nobody waited for it again.
    void sessionsCloseBeforeTheWaysTheyGo()
    {
        closed().clear();
        addClosing(&closeWay, ClosePhase::Ways);
        addClosing(&closeSession);
        addClosing(&closeSession);
        addClosing(&closeOtherSession);
        waitForClosing(1s);
        QCOMPARE(closed().size(), 3);
        QCOMPARE(closed().last(), QByteArray("way"));
    }
    // Who waits for events looks again after each: a call that was made must count as one.
    void aPostedCallEndsTheWaitForEvents()
    {
        QtLoop loop;
        bool isCalled = false, isLate = false;
        QTimer::singleShot(10s, [&isLate] { isLate = true; });
        loop.post([&isCalled] { isCalled = true; });
        while (!isCalled && !isLate)
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QVERIFY(!isLate);
    }
    void taskWaitsForItsParts()
    {
        VirtualLoop loop;
        Completion<int> first(loop), second(loop);
        int sum = 0;
        Scope scope(loop);
        scope.launch(storeSum(first, second, sum));
        second.complete(2);
        loop.runReady();
        QCOMPARE(sum, 0);
        first.complete(40);
        loop.runReady();
        QCOMPARE(sum, 42);
        QVERIFY(scope.isIdle());
    }

    // It has a block of its own beside the frame, which goes with the task whoever takes it.
    void aLargeAnswerIsMovedAndEndsOnce()
    {
        VirtualLoop loop;
        const auto kept = std::make_shared<int>(7);
        const Completion<bool> go(loop);
        LargeAnswer got;
        SoleTask taking;
        taking.launch(takeLarge(answerLarge(go, kept), got));
        QCOMPARE(kept.use_count(), 2L); // the frame's
        go.complete(true);
        loop.runReady();
        QCOMPARE(*got.back(), 7);
        QCOMPARE(kept.use_count(), 2L); // what was taken
        {
            auto ready = answerLarge(go, kept);
            QVERIFY(ready.start());
            QCOMPARE(kept.use_count(), 3L);
        }
        QCOMPARE(kept.use_count(), 2L); // nobody took that one
    }
    void locallyCountedEndsWithItsLastPointer()
    {
        bool isGone = false;
        LocalPtr<Gone> first(new Gone(isGone));
        LocalPtr<LocallyCounted> second;
        {
            const LocalPtr<Gone> third = first;
            second = LocalPtr<LocallyCounted>(third.get());
            first = {};
        }
        QVERIFY(!isGone);
        auto moved = std::move(second);
        second = {};
        QVERIFY(!isGone && moved);
        second = moved;
        moved = {};
        QVERIFY(!isGone);
        second = {};
        QVERIFY(isGone);
    }
    // Small and large ones alike: moved, called, and gone with what they held.
    void aCallbackOwnsWhatItHolds()
    {
        const auto held = std::make_shared<int>(0);
        const auto probe = [&held](auto padding) {
            MoveOnlyFunction<int(int)> first(
                [held, padding](int more) { return *held += more + int(padding.size()) * 0; });
            QCOMPARE(held.use_count(), 2);
            MoveOnlyFunction<int(int)> second(std::move(first));
            QVERIFY(second && !first);
            const int before = *held;
            QCOMPARE(second(2), before + 2);
            first = std::move(second);
            QVERIFY(first && !second);
            QCOMPARE(held.use_count(), 2);
            first = {};
            QCOMPARE(held.use_count(), 1);
        };
        probe(std::array<char, 1>());
        probe(std::array<char, 40>());
        probe(std::array<char, 500>());
        QCOMPARE(*held, 6);
        const std::function<void()> nothing;
        QVERIFY(!Call(nothing));
    }

    void aCallbackMayReplaceItself()
    {
        Call call;
        int calls = 0;
        call = [&call, &calls] {
            ++calls;
            const auto keep = std::exchange(call, [&calls] { calls += 10; });
        };
        const auto first = std::move(call);
        first();
        call();
        QCOMPARE(calls, 11);
    }

    // Against the plainest queue there is.
    void timersRunInTheirOrderWhateverIsCancelled()
    {
        for (quint64 seed = 1; seed <= 50; ++seed) {
            Random random(seed);
            TimerQueue queue;
            std::map<std::pair<Instant, int>, bool> expected; // until they ran or were cancelled
            std::vector<std::pair<std::pair<Instant, int>, Timer>> timers;
            std::vector<int> ran;
            Instant now{};
            for (int i = 0; i < 2000; ++i) {
                const auto dice = random.below(10);
                if (dice < 5) {
                    const std::pair<Instant, int> key{now + Duration(qint64(random.below(seed % 2 ? 300 : 3000))), i};
                    expected.emplace(key, true);
                    const auto run = [&ran, i] { ran.push_back(i); };
                    if (random.below(3) == 0)
                        queue.addKept(now, key.first, run);
                    else
                        timers.emplace_back(key, queue.add(key.first, run));
                } else if (dice < 8 && !timers.empty()) {
                    const auto which = random.below(timers.size());
                    expected.erase(timers[which].first);
                    timers.erase(timers.begin() + std::ptrdiff_t(which));
                } else {
                    now += Duration(qint64(random.below(seed % 3 ? 40 : 1500)));
                    std::vector<int> wanted;
                    while (!expected.empty() && expected.begin()->first.first <= now) {
                        wanted.push_back(expected.begin()->first.second);
                        expected.erase(expected.begin());
                    }
                    ran.clear();
                    while (queue.runDue(now)) {
                    }
                    QCOMPARE(ran, wanted);
                }
                const auto next = queue.next();
                QCOMPARE(next.has_value(), !expected.empty());
                if (next)
                    QCOMPARE(*next, expected.begin()->first.first);
            }
        }
    }

    // Also what is posted by one of them, and what one that runs the rest itself leaves.
    void postedTasksRunInOrder()
    {
        VirtualLoop loop;
        std::vector<int> ran;
        const auto note = [&ran](int i) { ran.push_back(i); };
        loop.post([&] {
            note(0);
            loop.post([&] { note(3); });
        });
        loop.post([&] {
            note(1);
            loop.runReady();
            note(4);
        });
        loop.post([&] { note(2); });
        loop.runReady();
        QCOMPARE(ran, (std::vector<int>{0, 1, 2, 3, 4}));
        loop.runReady();
        QCOMPARE(ran.size(), std::size_t(5));
    }

    // A call whose end posts another one.
    void pendingTasksAreDroppedWithTheirLoop()
    {
        int ended = 0;
        {
            VirtualLoop loop;
            const auto counting = [&ended, &loop](bool postsAgain) {
                return std::shared_ptr<void>(&ended, [&ended, &loop, postsAgain](void *) {
                    ++ended;
                    if (postsAgain)
                        loop.post([] { QFAIL("it has no loop any more"); });
                });
            };
            loop.post([keep = counting(true)] { QFAIL("nobody ran it"); });
            loop.runAt(loop.now() + 5us, [keep = counting(false)] { QFAIL("nobody ran it"); });
            loop.runAt(loop.now() + 5s, [keep = counting(false)] { QFAIL("nobody ran it"); });
        }
        QCOMPARE(ended, 3);
    }

    void aMillionReadyAwaitsDoNotGrowTheStack()
    {
        VirtualLoop loop;
        Scope scope(loop);
        int count = 0;
        scope.launch(countTo(1'000'000, count));
        QCOMPARE(count, 1'000'000);
    }

    void aHundredThousandHandOffsDoNotNest()
    {
        VirtualLoop loop;
        Scope scope(loop);
        Completion<int> first(loop);
        Completion<int> current = first;
        for (int i = 0; i < 100'000; ++i) {
            Completion<int> next(loop);
            scope.launch(handOver(current, next));
            current = next;
        }
        first.complete(0);
        loop.runReady();
        QCOMPARE(current.value(), 100'000);
        QVERIFY(scope.isIdle());
    }

    void timersRunInOrder()
    {
        VirtualLoop loop;
        QList<int> order;
        const auto late = loop.callAt(loop.now() + 20ms, [&] { order << 2; });
        const auto early = loop.callAt(loop.now() + 10ms, [&] { order << 1; });
        auto dropped = loop.callAt(loop.now() + 15ms, [&] { order << 99; });
        dropped.cancel();
        const auto same = loop.callAt(loop.now() + 20ms, [&] { order << 3; });
        loop.runUntilIdle();
        QCOMPARE(order, (QList<int>{1, 2, 3}));
    }

    // All that was started is done in its order; what had not begun when it was cleared never is.
    void workersDoAllThatIsNotCleared()
    {
        QList<int> done;
        Workers workers(1);
        for (int i = 0; i < 100; ++i)
            workers.start([&done, i] { done << i; });
        workers.waitForDone();
        QCOMPARE(done.size(), 100);
        QVERIFY(std::is_sorted(done.begin(), done.end()));

        std::latch begun(1), go(1);
        std::atomic<int> ran = 0;
        workers.start([&] {
            begun.count_down();
            go.wait();
            ++ran;
        });
        workers.start([&ran] { ran += 100; });
        begun.wait();
        workers.clear();
        go.count_down();
        workers.start([&ran] { ++ran; });
        workers.waitForDone();
        QCOMPARE(ran.load(), 2);
    }
};

LOCKSCOPE_TEST(TestAsync)
#include "tst_async.moc"
