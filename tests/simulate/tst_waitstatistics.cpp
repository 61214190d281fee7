// SPDX-License-Identifier: Apache-2.0
// Percentiles and fairness of a run's waits, against their definitions.
#include "core/base/random.h"
#include "core/contention/trace.h"
#include "tests/support/testmain.h"

using namespace lockscope::contention;

namespace {

// Pair by pair, as the header says it.
Fairness pairByPair(const std::vector<Wait> &waits)
{
    qint64 pairs = 0, overtaken = 0;
    for (const auto &earlier : waits) {
        for (const auto &later : waits) {
            if (&earlier == &later || !later.isGranted || earlier.answered >= later.joined
                || earlier.ended <= later.joined || (earlier.isReader && later.isReader))
                continue;
            ++pairs;
            overtaken += later.ended < earlier.ended;
        }
    }
    return {pairs == 0 ? 1 : 1 - double(overtaken) / double(pairs), pairs};
}

std::vector<Wait> lasting(const std::vector<int> &lengths)
{
    std::vector<Wait> waits;
    for (const int length : lengths)
        waits.push_back({Moment(0), Moment(0), Moment(length), true});
    return waits;
}

} // namespace

class TestWaitStatistics : public QObject {
    Q_OBJECT

private slots:
    void percentilesAreByNearestRank_data()
    {
        const Rows<std::vector<int>, int, int> row("lengths", "p50", "p99");
        std::vector<int> hundred;
        for (int i = 100; i > 0; --i)
            hundred.push_back(i);
        row("one", std::vector{7}, 7, 7);
        row("of two the 99th is the longer", std::vector{4000, 1}, 1, 4000);
        row("three", std::vector{1, 2, 9}, 2, 9);
        row("a hundred", hundred, 50, 99);
    }
    void percentilesAreByNearestRank()
    {
        QFETCH(std::vector<int>, lengths);
        auto waits = lasting(lengths);
        const auto got = percentilesOf(waits);
        QTEST(int(got.p50.count()), "p50");
        QTEST(int(got.p99.count()), "p99");
        QCOMPARE(int(got.max.count()), *std::max_element(lengths.begin(), lengths.end()));
    }
    void nobodyWaited()
    {
        std::vector<Wait> none;
        QCOMPARE(percentilesOf(none).max, Moment(0));
        QCOMPARE(fairnessOf(none).pairs, 0);
    }

    void aQueueIsFairAndAStackIsNot()
    {
        std::vector<Wait> queue, stack;
        for (int i = 0; i < 10; ++i) {
            queue.push_back({Moment(10 * i), Moment(10 * i + 1), Moment(1000 + 10 * i), true});
            stack.push_back({Moment(10 * i), Moment(10 * i + 1), Moment(2000 - 10 * i), true});
        }
        QCOMPARE(fairnessOf(queue).share, 1.0);
        QCOMPARE(fairnessOf(queue).pairs, 45);
        QCOMPARE(fairnessOf(stack).share, 0.0);
    }
    // It was there before, and somebody who came later got the lock while it waited.
    void timedOutWaiterWasOvertaken()
    {
        const std::vector<Wait> waits{{Moment(0), Moment(1), Moment(100), false},
                                      {Moment(10), Moment(11), Moment(50), true}};
        QCOMPARE(fairnessOf(waits).share, 0.0);
    }
    // Neither was first: both asked before the server had answered either.
    void simultaneousWaitersAreNotCompared()
    {
        const std::vector<Wait> waits{{Moment(0), Moment(5), Moment(100), true},
                                      {Moment(1), Moment(5), Moment(50), true}};
        QCOMPARE(fairnessOf(waits).pairs, 0);
    }
    void itIsWhatComparingAllPairsSays()
    {
        Random random(7);
        for (int round = 0; round < 300; ++round) {
            std::vector<Wait> waits;
            const auto count = 1 + random.below(30);
            for (quint64 i = 0; i < count; ++i) {
                const auto joined = Moment(qint64(random.below(20)));
                const auto answered = joined + Moment(1 + qint64(random.below(4)));
                waits.push_back({joined, answered, answered + Moment(qint64(random.below(30))), random.below(5) > 0,
                                 random.below(3) == 0});
            }
            const auto wanted = pairByPair(waits);
            const auto got = fairnessOf(waits);
            QCOMPARE(got.pairs, wanted.pairs);
            QCOMPARE(got.share, wanted.share);
        }
    }
};

LOCKSCOPE_TEST(TestWaitStatistics)
#include "tst_waitstatistics.moc"
