// SPDX-License-Identifier: Apache-2.0
// Who can go on, and which agents keep themselves from it: held against trying every possibility.
#include "core/base/random.h"
#include "core/inspect/waits/waitanalysis.h"
#include "tests/support/testmain.h"

#include <algorithm>
#include <set>

using namespace lockscope::inspect;

namespace {

struct Puzzle {
    std::vector<LockWaits> contests;
    int agents = 0;
};

Puzzle randomPuzzle(Random &random)
{
    Puzzle puzzle{.agents = 2 + static_cast<int>(random.below(4))};
    const auto locks = 2 + random.below(4);
    for (quint64 i = 0; i < locks; ++i) {
        LockWaits contest{.ordered = random.below(3) != 0};
        const bool shared = random.below(3) == 0;
        const auto holders = random.below(3) == 0 ? 2U : 1U;
        contest.permits = shared ? 1 : static_cast<int>(1 + random.below(holders));
        const auto waiters = 1 + random.below(2);
        for (quint64 j = 0; j < holders + waiters; ++j) {
            LockRequest request{.agent = static_cast<int>(random.below(static_cast<quint64>(puzzle.agents))),
                                .holds = j < holders,
                                .reads = shared && random.below(2) == 0};
            if (random.below(6) == 0)
                request.made = static_cast<qint64>(random.below(20));
            contest.requests.push_back(request);
        }
        contest.isTold = random.below(3) == 0; // the server says who waits for whom: for anybody here, in any order
        for (auto &request : contest.requests) {
            const int count = static_cast<int>(contest.requests.size());
            for (int other = 0; contest.isTold && !request.holds && other < count; ++other) {
                if (random.below(2) == 0)
                    request.behind.push_back(other);
            }
        }
        puzzle.contests.push_back(contest);
    }
    return puzzle;
}

// The rules once more, as sentences: is each of these waits kept out while none of them gets in? `gone`: agents whose
// requests do not count.
bool keepThemselvesStuck(const Puzzle &puzzle, const WaitAnalysis &contests, const std::set<RequestAt> &stuck,
                         const std::set<int> &gone)
{
    const auto goesAway = [&](RequestAt at, const LockRequest &one) {
        if (gone.contains(one.agent))
            return true;
        if (!one.holds)
            return !stuck.contains(at);
        const auto &bound = contests.binding(at);
        return bound.empty()
               || std::ranges::any_of(bound, [&](const RequestAt &wait) { return !stuck.contains(wait); });
    };
    return std::ranges::all_of(stuck, [&](const RequestAt &wait) {
        const auto &contest = puzzle.contests[static_cast<std::size_t>(wait.contest)];
        const auto &me = contests.request(wait);
        if (contest.isTold)
            return std::ranges::any_of(me.behind, [&](int other) {
                const RequestAt at{wait.contest, other};
                return contests.request(at).agent != me.agent && !goesAway(at, contests.request(at));
            });
        int inTheWay = 0;
        for (int i = 0; i < static_cast<int>(contest.requests.size()); ++i) {
            const auto &one = contest.requests[static_cast<std::size_t>(i)];
            const bool isAhead = one.holds || (contest.ordered && i < wait.request);
            if (isAhead && one.agent != me.agent && !(one.reads && me.reads) && !goesAway({wait.contest, i}, one))
                ++inTheWay;
        }
        return inTheWay >= contest.permits;
    });
}

std::vector<RequestAt> waitsOf(const Puzzle &puzzle)
{
    std::vector<RequestAt> all;
    for (int c = 0; c < static_cast<int>(puzzle.contests.size()); ++c) {
        const auto &requests = puzzle.contests[static_cast<std::size_t>(c)].requests;
        for (int i = 0; i < static_cast<int>(requests.size()); ++i) {
            if (!requests[static_cast<std::size_t>(i)].holds)
                all.push_back({c, i});
        }
    }
    return all;
}

// All that any set of waits can keep stuck.
std::set<RequestAt> stuckByTrying(const Puzzle &puzzle, const WaitAnalysis &contests, const std::set<int> &gone)
{
    const auto waits = waitsOf(puzzle);
    std::set<RequestAt> all;
    for (unsigned bits = 1; bits < (1U << waits.size()); ++bits) {
        std::set<RequestAt> some;
        for (std::size_t i = 0; i < waits.size(); ++i) {
            if (bits & (1U << i) && !gone.contains(contests.request(waits[i]).agent))
                some.insert(waits[i]);
        }
        if (!some.empty() && keepThemselvesStuck(puzzle, contests, some, gone))
            all.insert(some.begin(), some.end());
    }
    return all;
}

std::set<int> allBut(int agents, const std::vector<int> &these)
{
    std::set<int> others;
    for (int i = 0; i < agents; ++i) {
        if (std::ranges::find(these, i) == these.end())
            others.insert(i);
    }
    return others;
}

} // namespace

class TestWaitAnalysis : public QObject {
    Q_OBJECT
private slots:
    void stuckAgentsEqualThoseFoundByTrying()
    {
        int stuck = 0, knotted = 0;
        for (quint64 seed = 1; seed <= 4000; ++seed) {
            Random random(seed);
            const auto puzzle = randomPuzzle(random);
            if (waitsOf(puzzle).size() > 8)
                continue;
            const WaitAnalysis contests(puzzle.contests, puzzle.agents);
            const auto found = contests.stuck();
            const auto tried = stuckByTrying(puzzle, contests, {});
            QVERIFY2(std::set<RequestAt>(found.begin(), found.end()) == tried, QByteArray::number(seed));
            const auto deadlockSets = contests.deadlockSets();
            // Somebody is stuck exactly where there is a knot.
            QVERIFY2(deadlockSets.empty() == tried.empty(), QByteArray::number(seed));
            stuck += tried.empty() ? 0 : 1;
            for (const auto &knot : deadlockSets) {
                ++knotted;
                QVERIFY2(knot.agents.size() >= 2, QByteArray::number(seed));
                const auto alone = stuckByTrying(puzzle, contests, allBut(puzzle.agents, knot.agents));
                for (const auto &wait : knot.waits)
                    QVERIFY2(alone.contains(wait), QByteArray::number(seed));
                // And nobody in it could be left out.
                for (std::size_t i = 0; i < knot.agents.size(); ++i) {
                    auto fewer = knot.agents;
                    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
                    QVERIFY2(stuckByTrying(puzzle, contests, allBut(puzzle.agents, fewer)).empty(),
                             QByteArray::number(seed));
                }
                for (const int agent : knot.agents) {
                    const auto isIts = [&](RequestAt at) { return contests.request(at).agent == agent; };
                    QVERIFY2(std::ranges::any_of(knot.waits, isIts), QByteArray::number(seed));
                }
            }
        }
        QVERIFY2(stuck > 100 && knotted > 100, QByteArray::number(stuck)); // or the puzzles are too easy
    }

    // A chain of a hundred thousand, and a circle of them: neither is walked by recursion.
    void aLongCircleIsFound()
    {
        constexpr int many = 20'000;
        std::vector<LockWaits> contests;
        for (int i = 0; i < many; ++i)
            contests.push_back({{{i, true, false, {}, 0}, {(i + 1) % many, false, false, {}, 0}}, true, 1});
        contests.back().requests.pop_back();
        QVERIFY(WaitAnalysis(contests, many).stuck().empty());
    }

    void aCircleOfFortyIsOneKnot()
    {
        constexpr int many = 40;
        std::vector<LockWaits> contests;
        for (int i = 0; i < many; ++i)
            contests.push_back({{{i, true, false, {}, 0}, {(i + 1) % many, false, false, {}, 0}}, true, 1});
        const auto deadlockSets = WaitAnalysis(contests, many).deadlockSets();
        QCOMPARE(deadlockSets.size(), std::size_t(1));
        QCOMPARE(deadlockSets.front().agents.size(), std::size_t(many));
    }
};

LOCKSCOPE_TEST(TestWaitAnalysis)
#include "tst_waitanalysis.moc"
