// SPDX-License-Identifier: Apache-2.0
// What may break, says the table, but so seldom that seeds drawn at random cannot be relied on to show it: each of
// these has a story here that makes it happen, by the fault in question: without it, it does not.
#include "core/contention/recording.h"
#include "core/contention/faults.h"
#include "core/contention/guarantees.h"
#include "core/contention/mutants/mutants.h"
#include "core/contention/simulation.h"
#include "core/rules/catalogue.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/testmain.h"

using namespace lockscope::contention;

namespace {

// A family of runs, each a little different: chance decides which of them shows it.
struct Story {
    std::function<bool(const recipes::RecipeInfo &, const QByteArray &invariant)> isOf;
    FaultKind fault;
    int tellings; // at most
    std::function<void(Scenario &, int telling)> tell;
};

bool isOne(const QByteArray &name, std::initializer_list<const char *> names)
{
    return std::any_of(names.begin(), names.end(), [&](const char *one) { return name == one; });
}

// It neither prolongs its lease nor asks whose key it deletes.
bool isCareless(const recipes::RecipeInfo &recipe)
{
    return isOne(recipe.id, {"redis-setnx-expire", "redis-getset"});
}

bool isProlonged(const recipes::RecipeInfo &recipe)
{
    const bool isLeased = recipe.backend == BackendKind::Redis || recipe.backend == BackendKind::Etcd
                          || recipe.endsBy == recipes::EndsBy::Lease;
    return isLeased && !isCareless(recipe);
}

std::chrono::microseconds us(int count)
{
    return std::chrono::microseconds(count);
}

// The first is granted the lock while it is stopped, and its session ends: it reads the answer after its successors.
void pauseBeforeTheAnswer(Scenario &scenario, int telling)
{
    scenario.planned = {{FaultKind::Pause, 1ms + us(50 * telling), 0, 12s}};
}

// One is granted the lock while it is cut off from the answer, and its session ends before the partition does.
void cutOffFromTheAnswer(Scenario &scenario, int telling)
{
    const auto at = 17ms + us(50 * (telling / 6));
    scenario.seed = static_cast<quint64>(1 + telling % 6);
    scenario.hold = 5ms;
    const auto ends = at + (telling % 2 == 0 ? 2ms : 20ms);
    scenario.planned = {{FaultKind::Partition, at, 1, 2s}, {FaultKind::Expire, ends, 1, {}}};
}

// It gives the lock back in time, and that comes late: its successor has it by then.
void lateRelease(Scenario &scenario, FaultKind fault, int telling)
{
    scenario.contenders = 4;
    scenario.seed = static_cast<quint64>(1 + telling);
    scenario.hold = std::chrono::milliseconds(600 + telling % 10 * 200);
    scenario.planned = {{fault, 600ms, 0, std::chrono::milliseconds(1500 + telling % 7 * 500)}};
}

// Two ask in the same millisecond, and one of them does not hear the answer.
void sameMillisecond(Scenario &scenario, FaultKind fault, int telling)
{
    scenario.contenders = 8;
    scenario.seed = static_cast<quint64>(26 + telling / 40);
    scenario.hold = 5ms;
    scenario.planned = {{fault, 20ms + us(2000 * (telling % 40)), 3, {}}};
}

// The replica shows who waited a moment ago, and they have had it meanwhile.
void failoverBehindTheLast(Scenario &scenario, int telling)
{
    scenario.seed = static_cast<quint64>(1 + telling % 10);
    scenario.hold = 20ms;
    scenario.planned = {{FaultKind::Failover, us(2000 * (telling / 10)), 0, {}}};
}

// Whoever works past the time in its key leaves the key, as another may have it by then; and a replica may bring one
// back that was deleted. Nobody takes it over after the last.
void leavesWhatIsPast(Scenario &scenario, FaultKind fault, int telling)
{
    scenario.contenders = 1;
    scenario.ttl = 1s;
    scenario.hold = 50ms;
    scenario.seed = static_cast<quint64>(telling) + 1;
    // Paused as it begins to give the lock back; failed over when it has.
    const auto at = fault == FaultKind::Failover ? 50ms + us(500 * telling)
                    : fault == FaultKind::Pause  ? 48ms + us(250 * telling)
                                                 : us(10'000);
    scenario.planned = {{fault, at, 0, fault == FaultKind::ClockJump ? 60s : 2s}};
}

// Between its SETNX and its EXPIRE, for longer than it would wait for the answer.
void pauseBeforeExpire(Scenario &scenario, int telling)
{
    scenario.planned = {{FaultKind::Pause, us(50 * telling), 0, 30s}};
}

// A slow clock, cut off so that the session ends just on a tick; it writes at half of its work.
void slowAndCutOffFromZooKeeper(Scenario &scenario, int telling)
{
    scenario.seed = static_cast<quint64>(1 + telling);
    scenario.hold = std::chrono::milliseconds(12'100 + telling % 20 * 40);
    scenario.planned = {{FaultKind::Drift, 20ms, 0, {}}, {FaultKind::Partition, 1900ms, 0, 10s}};
}

// A slow clock, cut off so that nothing prolongs the lease.
void slowAndCutOff(Scenario &scenario, int telling)
{
    scenario.seed = static_cast<quint64>(1 + telling);
    scenario.hold = std::chrono::milliseconds(500 + telling % 40 * 200);
    scenario.planned = {{FaultKind::Drift, 5ms, 0, {}}, {FaultKind::Partition, 30ms, 0, 10s}};
}

// A slow clock where nothing prolongs the lease; it writes at half of its work.
void slow(Scenario &scenario, int telling)
{
    scenario.seed = static_cast<quint64>(1 + telling);
    scenario.hold = std::chrono::milliseconds(5000 + telling % 10 * 100);
    scenario.planned = {{FaultKind::Drift, 5ms, 0, {}}};
}

// The server ends a connection that has been idle for 8 hours.
void pauseOfADay(Scenario &scenario, int telling)
{
    scenario.contenders = 2;
    scenario.seed = static_cast<quint64>(1 + telling);
    scenario.hold = 12h;
    scenario.planned = {{FaultKind::Pause, 100ms, 0, 10h}};
}

// Its connection breaks as its session asks whether that stands, and it stops before it hears of that.
void pauseAsTheConnectionBreaks(Scenario &scenario, int telling)
{
    scenario.contenders = 2;
    scenario.seed = static_cast<quint64>(1 + telling / 80);
    scenario.hold = 30s;
    scenario.planned = {{FaultKind::LoseReply, 500ms, 0, {}},
                        {FaultKind::Pause, 1000ms + us(50 * (telling % 80)), 0, 20s}};
}

// Freed by force the lock is granted to one whose answer is late, as its follower lags.
void forcedWhileItLags(Scenario &scenario, int telling)
{
    scenario.contenders = 4;
    scenario.hold = 28ms;
    scenario.seed = static_cast<quint64>(1 + telling / 12);
    scenario.planned = {{FaultKind::ForceRelease, 13ms, 0, {}},
                        {FaultKind::Lag, 13ms + us(50 * (telling % 12)), 0, {}}};
}

// The same between the look of a holder that gives it back and its delete, which takes it away from its successor:
// another has it and is told first.
void forcedBetweenLookAndDelete(Scenario &scenario, int telling)
{
    const auto at = 43ms + us(500 * (telling % 18));
    scenario.contenders = 4;
    scenario.hold = 28ms;
    scenario.seed = static_cast<quint64>(1 + telling / 18);
    scenario.planned = {{FaultKind::ForceRelease, at, 0, {}}, {FaultKind::Lag, at - 1ms, 0, {}}};
}

// The partition begins between the UPDATE and its answer.
void cutOffFromTheFlag(Scenario &scenario, int telling)
{
    scenario.planned = {{FaultKind::Partition, us(50 * (telling / 3)), telling % 3, 12s}};
}

// It gives up and ends while its INSERT is kept back, which goes in at last.
void givesUpBehindAPartition(Scenario &scenario, int telling)
{
    scenario.seed = static_cast<quint64>(1 + telling);
    scenario.rounds = 2;
    scenario.hold = 3s;
    scenario.wait = 2s;
    scenario.planned = {{FaultKind::Partition, 100ms, 1, 10s}};
}

const std::vector<Story> &stories()
{
    static const std::vector<Story> all{
        {[](const auto &recipe, const auto &invariant) {
             return recipe.backend == BackendKind::ZooKeeper && isOne(invariant, {"tokens", "order"});
         },
         FaultKind::Pause, 400, pauseBeforeTheAnswer},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.backend == BackendKind::ZooKeeper && isOne(invariant, {"tokens", "order"});
         },
         FaultKind::Partition, 6000, cutOffFromTheAnswer},
        {[](const auto &recipe, const auto &invariant) {
             return isCareless(recipe) && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::Partition, 1000,
         [](Scenario &scenario, int telling) { lateRelease(scenario, FaultKind::Partition, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return isCareless(recipe) && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::Delay, 1000,
         [](Scenario &scenario, int telling) { lateRelease(scenario, FaultKind::Delay, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "zk-ephemeral" && invariant == "tokens";
         },
         FaultKind::ForceRelease, 400, forcedBetweenLookAndDelete},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "redis-getset" && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::LoseRequest, 8000,
         [](Scenario &scenario, int telling) { sameMillisecond(scenario, FaultKind::LoseRequest, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "redis-getset" && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::LoseReply, 8000,
         [](Scenario &scenario, int telling) { sameMillisecond(scenario, FaultKind::LoseReply, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "redisson-fair-lock" && invariant == "cleanliness";
         },
         FaultKind::Failover, 1500, failoverBehindTheLast},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "redis-getset" && invariant == "cleanliness";
         },
         FaultKind::Pause, 60,
         [](Scenario &scenario, int telling) { leavesWhatIsPast(scenario, FaultKind::Pause, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "redis-getset" && invariant == "cleanliness";
         },
         FaultKind::ClockJump, 60,
         [](Scenario &scenario, int telling) { leavesWhatIsPast(scenario, FaultKind::ClockJump, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return isOne(recipe.id, {"redis-getset", "redisson-semaphore"}) && invariant == "cleanliness";
         },
         FaultKind::Failover, 60,
         [](Scenario &scenario, int telling) { leavesWhatIsPast(scenario, FaultKind::Failover, telling); }},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "redis-setnx-expire" && isOne(invariant, {"progress", "cleanliness"});
         },
         FaultKind::Pause, 1000, pauseBeforeExpire},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.backend == BackendKind::ZooKeeper && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::Drift, 500, slowAndCutOffFromZooKeeper},
        {[](const auto &recipe, const auto &invariant) {
             return isProlonged(recipe) && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::Drift, 400, slowAndCutOff},
        {[](const auto &recipe, const auto &invariant) { return isCareless(recipe) && invariant == "effect"; },
         FaultKind::Drift, 500, slow},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.backend == BackendKind::MariaDb && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::Pause, 5, pauseOfADay},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "sql-status-flag" && isOne(invariant, {"progress", "cleanliness"});
         },
         FaultKind::Partition, 600, cutOffFromTheFlag},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.id == "sql-insert-mark" && invariant == "cleanliness";
         },
         FaultKind::Partition, 60, givesUpBehindAPartition},
        {[](const auto &recipe, const auto &invariant) {
             return recipe.backend == BackendKind::PostgreSql && isOne(invariant, {"exclusion", "effect"});
         },
         FaultKind::Pause, 800, pauseAsTheConnectionBreaks},
    };
    return all;
}

bool breaksIn(const Scenario &scenario, const QByteArray &invariant)
{
    const auto played = contention::simulate(scenario);
    return played && breaks(invariant)(*played);
}

Scenario without(Scenario scenario, FaultKind fault)
{
    std::erase_if(scenario.planned, [fault](const PlannedFault &planned) { return planned.kind == fault; });
    return scenario;
}

Scenario plain(const QByteArray &recipe)
{
    return Scenario{.recipe = recipe, .contenders = 3, .ttl = 3s, .sessionTimeout = 4s, .keepsEvents = false};
}

} // namespace

class TestRare : public QObject {
    Q_OBJECT
private slots:
    void rareViolationHappensInItsStory_data()
    {
        const Rows<QByteArray, FaultKind, QByteArray> row("recipe", "fault", "invariant");
        for (const auto &recipe : recipes::catalogue()) {
            if (!recipe.acquirable || !recipe.simulated)
                continue;
            for (const auto fault : faultsFor(recipe.id)) {
                for (const auto &invariant : invariants()) {
                    if (!guaranteeRule(recipe.id, fault, invariant.name, false).isRare)
                        continue;
                    row(recipe.id + ' ' + nameOf(fault) + ' ' + invariant.name, recipe.id, fault, invariant.name);
                }
            }
        }
    }
    void rareViolationHappensInItsStory()
    {
        QFETCH(QByteArray, recipe);
        QFETCH(FaultKind, fault);
        QFETCH(QByteArray, invariant);
        const auto &all = stories();
        const auto story = std::find_if(all.begin(), all.end(), [&](const Story &one) {
            return one.fault == fault && one.isOf(*recipes::findRecipe(recipe), invariant);
        });
        QVERIFY2(story != all.end(), "the table says it may break, and no story shows it");
        // A sanitizer looks at how it is told, not at how often it has to be.
        const int tellings = testing::sanitizerShare > 1 ? 2 : story->tellings;
        for (int telling = 0; telling < tellings; ++telling) {
            auto scenario = plain(recipe);
            story->tell(scenario, telling);
            QVERIFY(scenario.check());
            if (!breaksIn(scenario, invariant) || breaksIn(without(scenario, fault), invariant))
                continue;
            // Not by something else that may break it anyhow.
            for (const auto &planned : scenario.planned) {
                const auto expected = guaranteeRule(recipe, planned.kind, invariant, false);
                QVERIFY(planned.kind == fault || !expected.mayBreak());
            }
            qInfo("%d: %s", telling, qPrintable(commandLine(scenario)));
            return;
        }
        QVERIFY2(testing::sanitizerShare > 1, "none of the tellings broke it");
    }

    // Whoever is freed by force before it gives the lock back looks first, and takes nothing from its successor.
    void forcedHolderDoesNotReleaseItsSuccessor()
    {
        for (int telling = 0; telling < 3000 / testing::sanitizerShare; ++telling) {
            auto scenario = plain("zk-ephemeral");
            forcedWhileItLags(scenario, telling);
            QVERIFY2(!breaksIn(scenario, "tokens"), qPrintable(commandLine(scenario)));
        }
    }

    // Wherever two may believe, the table says for how long at most; that it is true is for tst_seeds.cpp.
    void theTableSaysForHowLongTwoBelieve()
    {
        int bounded = 0;
        for (const auto &recipe : recipes::catalogue()) {
            if (!recipe.acquirable || !recipe.simulated)
                continue;
            for (const auto fault : faultsFor(recipe.id)) {
                const auto expected = guaranteeRule(recipe.id, fault, "exclusion", false);
                if (!expected.mayBreak())
                    continue;
                auto scenario = plain(recipe.id);
                scenario.faults = {fault};
                const auto bound = overlapBound(scenario, fault);
                const auto cell = recipe.id + ' ' + nameOf(fault);
                QVERIFY2(bound && bound->atMost > Duration::zero() && !bound->words.isEmpty(), cell);
                QVERIFY2(expected.because.endsWith(bound->words), qPrintable(expected.because));
                QCOMPARE(overlapBound(scenario), bound->atMost);
                ++bounded;
            }
        }
        QVERIFY(bounded > 50);
        // A pause that is planned is as long as it is planned, and none is no bound to be lenient about.
        auto scenario = plain("zk-mutex");
        QCOMPARE(longestOf(scenario, FaultKind::Pause), Duration::zero());
        scenario.planned = {{FaultKind::Pause, 0ms, 0, 5s}};
        QCOMPARE(overlapBound(scenario), Duration(1250ms));
    }
};

LOCKSCOPE_TEST(TestRare)
#include "tst_rare.moc"
