// Coroutines: tasks, one-shots, scopes and timers on virtual time.
#include "core/async/oneshot.h"
#include "core/async/scope.h"
#include "core/async/sleep.h"
#include "core/async/virtualloop.h"

#include <QTest>

using namespace lockscope;
using namespace std::chrono_literals;

namespace {

struct Guard {
    bool &flag;
    explicit Guard(bool &f) : flag(f) {}
    ~Guard() { flag = true; }
};

Task<int> sumOf(OneShot<int> first, OneShot<int> second)
{
    const int a = co_await first;
    const int b = co_await second;
    co_return a + b;
}

Task<int> readyValue(int value)
{
    co_return value;
}

Task<void> storeSum(OneShot<int> first, OneShot<int> second, int &out)
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

Task<void> waitGuarded(OneShot<int> value, bool &cleaned, int &got)
{
    Guard guard(cleaned);
    got = co_await value;
}

Task<void> handOver(OneShot<int> mine, OneShot<int> next)
{
    const int value = co_await mine;
    next.complete(value + 1);
}

} // namespace

class TestAsync : public QObject {
    Q_OBJECT
private slots:
    void taskWaitsForItsParts()
    {
        VirtualLoop loop;
        OneShot<int> first(loop), second(loop);
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

    void completionGoesThroughTheQueue()
    {
        VirtualLoop loop;
        OneShot<int> value(loop);
        int got = 0;
        bool cleaned = false;
        Scope scope(loop);
        scope.launch(waitGuarded(value, cleaned, got));
        value.complete(7);
        QCOMPARE(got, 0);
        loop.runReady();
        QCOMPARE(got, 7);
    }

    void firstCompletionWins()
    {
        VirtualLoop loop;
        OneShot<int> value(loop);
        value.complete(1);
        value.complete(2);
        QCOMPARE(value.value(), 1);
    }

    void deadlineCompletesLate()
    {
        VirtualLoop loop;
        OneShot<int> value(loop);
        value.completeAt(Deadline::after(loop, 100ms), -1);
        loop.advance(99ms);
        QVERIFY(!value.isComplete());
        loop.advance(1ms);
        QCOMPARE(value.value(), -1);
    }

    void answerBeatsDeadlineAndDropsItsTimer()
    {
        VirtualLoop loop;
        OneShot<int> value(loop);
        value.completeAt(Deadline::after(loop, 100ms), -1);
        value.complete(5);
        loop.advance(200ms);
        QCOMPARE(value.value(), 5);
    }

    void destroyingAScopeCancels()
    {
        VirtualLoop loop;
        OneShot<int> value(loop);
        bool cleaned = false;
        int got = 0;
        {
            Scope scope(loop);
            scope.launch(waitGuarded(value, cleaned, got));
            QVERIFY(!cleaned);
        }
        QVERIFY(cleaned);
        value.complete(9);
        loop.runReady();
        QCOMPARE(got, 0);
    }

    void cancelAfterCompletionBeforeResume()
    {
        VirtualLoop loop;
        OneShot<int> value(loop);
        bool cleaned = false;
        int got = 0;
        auto scope = std::make_unique<Scope>(loop);
        scope->launch(waitGuarded(value, cleaned, got));
        value.complete(9);
        scope.reset();
        loop.runReady();
        QCOMPARE(got, 0);
        QVERIFY(cleaned);
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
        OneShot<int> first(loop);
        OneShot<int> current = first;
        for (int i = 0; i < 100'000; ++i) {
            OneShot<int> next(loop);
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
};

QTEST_APPLESS_MAIN(TestAsync)
#include "tst_async.moc"
