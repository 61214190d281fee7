// SPDX-License-Identifier: Apache-2.0
// A value that arrives once: who hears of it, when, and how often.
#include <version>

#include "core/async/completion.h"
#include "core/async/qtloop.h"
#include "core/async/scope.h"
#include "core/async/virtualloop.h"
#include "tests/support/testmain.h"

#include <thread>

namespace {

Task<void> takeNumber(Completion<int> value, int &got)
{
    got = co_await value;
}

Task<void> appendNumber(Completion<int> value, QByteArrayList &order)
{
    const int number = co_await value;
    order << "waits " + QByteArray::number(number);
}

struct CopiesCounted {
    CopiesCounted() = default;
    ~CopiesCounted() = default;
    CopiesCounted(const CopiesCounted &other) : copies(other.copies + 1) {}
    CopiesCounted(CopiesCounted &&) noexcept = default;
    CopiesCounted &operator=(const CopiesCounted &) = delete;
    CopiesCounted &operator=(CopiesCounted &&) noexcept = default;
    int copies = 0;
};

Task<void> countCopies(Completion<CopiesCounted> value, int &copies)
{
    const auto got = co_await value.taken();
    copies = got.copies;
}

Task<void> noteArrival(Completion<CopiesCounted> value, int &copies)
{
    co_await value.arrival();
    copies = value.value().copies;
}

} // namespace

class TestCompletion : public QObject {
    Q_OBJECT
private slots:
    void completionGoesThroughTheQueue()
    {
        VirtualLoop loop;
        Completion<int> value(loop);
        int got = 0;
        Scope scope(loop);
        scope.launch(takeNumber(value, got));
        value.complete(7);
        QCOMPARE(got, 0);
        loop.runReady();
        QCOMPARE(got, 7);
    }

    void awaitedValueIsNotCopied()
    {
        VirtualLoop loop;
        Scope scope(loop);
        Completion<CopiesCounted> late(loop);
        int ofLate = -1;
        scope.launch(countCopies(late, ofLate)); // waits
        late.complete(CopiesCounted());
        Completion<CopiesCounted> ready(loop);
        ready.complete(CopiesCounted());
        int ofReady = -1;
        scope.launch(countCopies(ready, ofReady));
        loop.runUntilIdle();
        QCOMPARE(ofLate, 0);
        QCOMPARE(ofReady, 0);
    }
    void valueIsThereAfterItsArrival()
    {
        VirtualLoop loop;
        SoleTask task;
        const Completion<CopiesCounted> late(loop);
        int copies = -1;
        task.launch(noteArrival(late, copies));
        loop.runReady();
        QCOMPARE(copies, -1); // it waits
        late.complete(CopiesCounted());
        QCOMPARE(copies, -1); // through the queue
        loop.runReady();
        QCOMPARE(copies, 0);
        copies = -1;
        task.launch(noteArrival(late, copies)); // it is there already, and nobody took it
        QCOMPARE(copies, 0);
    }
    void aCompletionIsLetGoOnAnyThread()
    {
        const auto kept = std::make_shared<int>(7);
        {
            QtLoop loop;
            const Completion<std::shared_ptr<int>> value(loop);
            value.complete(kept);
            const auto hold = [value] {
                for (int i = 0; i < 200'000; ++i)
                    const auto another = value;
            };
            std::thread other(hold);
            hold();
            other.join();
        }
        QCOMPARE(kept.use_count(), 1L);
    }
    void firstCompletionWins()
    {
        VirtualLoop loop;
        Completion<int> value(loop);
        value.complete(1);
        value.complete(2);
        QCOMPARE(value.value(), 1);
    }

    void deadlineCompletesLate()
    {
        VirtualLoop loop;
        Completion<int> value(loop);
        value.completeAt(Deadline::after(loop, 100ms), -1);
        loop.advance(99ms);
        QVERIFY(!value.isComplete());
        loop.advance(1ms);
        QCOMPARE(value.value(), -1);
    }

    void answerBeatsDeadlineAndDropsItsTimer()
    {
        VirtualLoop loop;
        Completion<int> value(loop);
        value.completeAt(Deadline::after(loop, 100ms), -1);
        value.complete(5);
        loop.advance(200ms);
        QCOMPARE(value.value(), 5);
    }

    void lateWordsAreMadeOnlyWhenItIsLate()
    {
        VirtualLoop loop;
        int made = 0;
        const auto words = [&made] { return ++made; };
        Completion<int> inTime(loop), late(loop);
        inTime.completeAtWith(Deadline::after(loop, 100ms), words);
        late.completeAtWith(Deadline::after(loop, 100ms), words);
        inTime.complete(7);
        loop.advance(200ms);
        QCOMPARE(inTime.value(), 7);
        QCOMPARE(late.value(), 1);
        QCOMPARE(made, 1);
    }

    void theLastWhoListensIsCalled()
    {
        VirtualLoop loop;
        QByteArrayList order;
        const Completion<int> value(loop);
        value.then([&order](int) { order << "first"; });
        value.then([&order](int) { order << "last"; });
        value.complete(7);
        loop.runReady();
        QCOMPARE(order, QByteArrayList{"last"});
    }
    void observersRunBeforeListenersAndWaiters_data()
    {
        QTest::addColumn<bool>("observesFirst");
        QTest::addRow("observed before somebody listens") << true;
        QTest::addRow("listened to before it is observed") << false;
    }
    void observersRunBeforeListenersAndWaiters()
    {
        QFETCH(const bool, observesFirst);
        VirtualLoop loop;
        SoleTask waiting;
        QByteArrayList order;
        const Completion<int> value(loop);
        const auto observe = [&] {
            value.observe([&order](int seen) { order << "sees " + QByteArray::number(seen); });
        };
        if (observesFirst)
            observe();
        value.then([&order](int heard) { order << "hears " + QByteArray::number(heard); });
        if (!observesFirst)
            observe();
        waiting.launch(appendNumber(value, order));
        value.complete(7);
        QCOMPARE(order, QByteArrayList()); // through the queue
        loop.runReady();
        value.complete(8);
        loop.runReady();
        QCOMPARE(order, (QByteArrayList{"sees 7", "hears 7", "waits 7"}));
    }
    // What was refused is complete when it comes: who waits goes on at once, and must not be ahead of the record.
    void completeValueIsObservedAtOnce()
    {
        VirtualLoop loop;
        const Completion<int> value(loop);
        value.complete(7);
        int seen = 0;
        value.observe([&seen](int number) { seen += number; });
        QCOMPARE(seen, 7);
        loop.runReady();
        QCOMPARE(seen, 7);
    }
};

LOCKSCOPE_TEST(TestCompletion)
#include "tst_completion.moc"
