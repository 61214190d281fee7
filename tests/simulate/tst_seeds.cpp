// SPDX-License-Identifier: Apache-2.0
// Every recipe under every fault, many seeds: what the table says holds, holds in each of them; what may break is
// seen to break; two never believe for longer than they may; and the broken mutants are caught.
//
// LOCKSCOPE_SEEDS says how many per recipe (./test.sh --soak N); without it more are played only until all was
// seen. A failure prints the seed's scenario, for `lockscopectl simulate`, the shortest one found that breaks
// the same, and its events. LOCKSCOPE_SURVEY=1 prints what broke instead of judging it. What is too rare for
// seeds drawn at random is shown in tst_rare.cpp.
#include "core/contention/faults.h"
#include "core/contention/recording.h"
#include "core/contention/guarantees.h"
#include "core/contention/mutants/mutants.h"
#include "core/contention/simulation.h"
#include "core/rules/catalogue.h"
#include "tests/support/sanitizershare.h"
#include "tests/support/startedserver.h"
#include "tests/support/testmain.h"

#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

using namespace lockscope::contention;

namespace {

constexpr int seedsInAnyCase = 4000 / testing::sanitizerShare;
constexpr int seedsByDefault = testing::sanitizerShare == 1 ? 10'000 : seedsInAnyCase; // at most

// So many the rarest of what may break by one fault takes to be seen.
constexpr int seedsToSeeEverything = 10'000;
// How one fault alone is played (scenarioAlone()).
constexpr int waysToPlayAlone = 3;
// The mistakes show seldom: fewer seeds need not catch them.
constexpr int seedsToCatchMutants = 4000;

// Somebody said how many.
std::optional<int> seedsWanted()
{
    bool isNumber = false;
    const auto wanted = qEnvironmentVariableIntValue("LOCKSCOPE_SEEDS", &isNumber);
    return isNumber && wanted > 0 ? std::optional(wanted) : std::nullopt;
}

int seedCount()
{
    return seedsWanted().value_or(seedsByDefault);
}

int seedsAlone()
{
    if (testing::sanitizerShare > 1)
        return 1;
    constexpr int byDefault = 150 * waysToPlayAlone; // of a cell
    return std::max(waysToPlayAlone, std::min(byDefault, byDefault * seedCount() / seedsToSeeEverything));
}

// Few contenders and one or two faults: the shortest stories in which something can go wrong. Most seeds have one
// fault, so that what breaks has one cause; the others draw several.
Scenario scenarioOf(const QByteArray &recipe, quint64 seed)
{
    const auto faults = faultsFor(recipe);
    Random random(seed ^ 0x5eed);
    Scenario scenario{.recipe = recipe, .contenders = 2 + int(random.below(3)), .seed = seed};
    // Shorter than what it takes to connect again, longer than that, longer than a lease.
    const auto length = random.below(10);
    scenario.hold = std::chrono::milliseconds(length < 6   ? 5 + random.below(40)
                                              : length < 9 ? 100 + random.below(500)
                                                           : 8000);
    scenario.ttl = 3s;
    scenario.sessionTimeout = 4s;
    scenario.keepsEvents = false;
    if (const auto *mutant = findMutant(recipe))
        scenario.wait = mutant->wait;
    scenario.checksFencingTokens = random.below(2) == 0;
    const auto *info = playable(recipe);
    if (info->readWrite)
        scenario.readersPercent = int(random.below(3)) * 50;
    if (info->counted)
        scenario.limit = 1 + int(random.below(2));
    const auto howMany = seed / faults.size() % 4 == 3 ? 1 + random.below(faults.size()) : 1;
    std::set<std::size_t> chosen{seed % faults.size()};
    while (chosen.size() < howMany)
        chosen.insert(random.below(faults.size()));
    for (const auto index : chosen)
        scenario.faults.push_back(faults[index]);
    // Alone: nobody gets the lock after it, and what the others break would be laid to it.
    if (scenario.faults.size() > 1)
        std::erase(scenario.faults, FaultKind::DeadThread);
    // A pair that chance brings together too seldom: what was done is looked for where it is not seen yet.
    if (seed % 10 == 9 && info->backend == BackendKind::ZooKeeper)
        scenario.faults = {FaultKind::Lag, FaultKind::LoseReply};
    return scenario;
}

// One fault alone, at the lengths people choose: a lease of half a minute, and then what the short ones above never
// meet, a wait that ends before the lock is free again, and work that goes on for long.
Scenario scenarioAlone(const QByteArray &recipe, FaultKind fault, quint64 seed)
{
    Scenario scenario{.recipe = recipe, .contenders = 4, .seed = seed, .faults = {fault}, .keepsEvents = false};
    switch (seed % waysToPlayAlone) {
    case 1: scenario.wait = 20s; break;
    case 2: scenario.hold = 5s; break;
    default: break;
    }
    return scenario;
}

QByteArray describe(const Scenario &scenario)
{
    return commandLine(scenario).toUtf8();
}

// What broke, over all seeds of a recipe.
struct Tally {
    std::mutex mutex;
    std::map<std::pair<FaultKind, QByteArray>, std::pair<int, QByteArray>> broke; // of one fault: times, example
    std::map<FaultKind, int> runs;
    QByteArrayList unexpected;
    std::optional<std::pair<Scenario, QByteArray>> firstUnexpected; // and the invariant; none: for too long
    std::set<QByteArray> invariantsBroken;
    std::map<FaultKind, std::pair<Moment, QByteArray>> longestOverlap; // of one fault: example
};

bool isAllowed(const Scenario &scenario, const QByteArray &invariant)
{
    return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](FaultKind fault) {
        return guaranteeRule(scenario.recipe, fault, invariant, scenario.checksFencingTokens).mayBreak();
    });
}

bool isTooLong(const Recording &recording)
{
    return recording.counters.longestOverlap > overlapBound(recording.scenario);
}

Shows breaksWhatHolds(const QByteArray &invariant)
{
    return [invariant](const Recording &recording) {
        return !isAllowed(recording.scenario, invariant) && breaks(invariant)(recording);
    };
}

void note(Tally &tally, const QByteArray &line, const Scenario &scenario, const QByteArray &invariant)
{
    tally.unexpected << line;
    if (!tally.firstUnexpected)
        tally.firstUnexpected.emplace(scenario, invariant);
}

// For a person: what the first of the unexpected comes down to.
QByteArray shortestOf(const Tally &tally)
{
    if (!tally.firstUnexpected)
        return {};
    constexpr int replays = 500;
    constexpr std::size_t lines = 60;
    const auto &[scenario, invariant] = *tally.firstUnexpected;
    const auto found = shrink(scenario, invariant.isEmpty() ? Shows(isTooLong) : breaksWhatHolds(invariant), replays);
    if (!found)
        return found.error().message.toUtf8();
    const auto &recording = found->recording;
    const auto events = eventLines(recording, invariant, lines);
    return "The shortest schedule found that breaks the same:\n" + describe(recording.scenario) + '\n'
           + events.join(u'\n').toUtf8();
}

void judge(const Scenario &scenario, const Result<Recording> &played, Tally &tally)
{
    const std::lock_guard lock(tally.mutex);
    if (!played) {
        tally.unexpected << describe(scenario) + ": " + played.error().message.toUtf8();
        return;
    }
    if (scenario.faults.size() == 1)
        ++tally.runs[scenario.faults.front()];
    if (scenario.faults.size() == 1) {
        auto &[longest, example] = tally.longestOverlap[scenario.faults.front()];
        if (played->counters.longestOverlap > longest) {
            longest = played->counters.longestOverlap;
            example = describe(scenario);
        }
    }
    if (isTooLong(*played))
        note(tally,
             "two believed for " + QByteArray::number(qint64(played->counters.longestOverlap.count()))
                 + " us, not at most " + QByteArray::number(qint64(overlapBound(scenario).count())) + ": "
                 + describe(scenario),
             scenario, {});
    std::set<QByteArray> seen;
    for (const auto &violation : played->violations) {
        if (!seen.insert(violation.invariant).second)
            continue;
        tally.invariantsBroken.insert(violation.invariant);
        const auto example = describe(scenario) + ": " + violation.message.toUtf8();
        if (scenario.faults.size() == 1) {
            auto &[times, first] = tally.broke[{scenario.faults.front(), violation.invariant}];
            if (++times == 1)
                first = example;
        }
        if (!isAllowed(scenario, violation.invariant))
            note(tally, violation.invariant + ": " + example, scenario, violation.invariant);
    }
}

struct Seeds {
    int first, last;
};

template <class ScenarioOfSeed>
void playEach(Seeds seeds, Tally &tally, ScenarioOfSeed scenarioOfSeed)
{
    std::atomic next = seeds.first;
    const auto work = [&] {
        for (auto seed = next++; seed <= seeds.last; seed = next++) {
            const auto scenario = scenarioOfSeed(static_cast<quint64>(seed));
            judge(scenario, contention::simulate(scenario), tally);
        }
    };
    std::thread other(work); // two cores
    work();
    other.join();
}

void playAll(const QByteArray &recipe, Seeds seeds, Tally &tally)
{
    playEach(seeds, tally, [&recipe](quint64 seed) { return scenarioOf(recipe, seed); });
}

// Each cell of the table by itself.
void playAlone(const QByteArray &recipe, Tally &tally)
{
    int first = 1, last = seedsAlone();
    for (const auto fault : faultsFor(recipe)) {
        playEach({first, last}, tally, [&](quint64 seed) { return scenarioAlone(recipe, fault, seed); });
        if (testing::sanitizerShare > 1) // each of them once, in one way after the other
            first = last = first % waysToPlayAlone + 1;
    }
}

// What may break and was not seen to; empty: all of it was.
QByteArray unseen(const QByteArray &recipe, const Tally &tally)
{
    for (const auto fault : faultsFor(recipe)) {
        for (const auto &invariant : invariants()) {
            const auto expected = guaranteeRule(recipe, fault, invariant.name, false);
            if (expected.mayBreak() && !expected.isRare && !tally.broke.contains({fault, invariant.name}))
                return nameOf(fault) + " was never seen to break " + invariant.name
                       + ", which the table says may be: " + expected.because.toUtf8();
        }
    }
    return {};
}

// All that somebody wants; or some thousands, and more as long as something was not seen.
void playUntilSeen(const QByteArray &recipe, Tally &tally)
{
    const int step = seedsWanted().value_or(seedsInAnyCase);
    for (int played = 0; played < seedCount() && (played == 0 || !unseen(recipe, tally).isEmpty()); played += step)
        playAll(recipe, {played + 1, std::min(played + step, seedCount())}, tally);
}

void survey(const Tally &tally)
{
    for (const auto &[key, times] : tally.broke)
        qInfo("%-14s %-12s %d of %d  %s", nameOf(key.first).constData(), key.second.constData(), times.first,
              tally.runs.at(key.first), times.second.constData());
    for (const auto &[fault, longest] : tally.longestOverlap)
        qInfo("%-14s two believe for up to %lld us  %s", nameOf(fault).constData(), qint64(longest.first.count()),
              longest.second.constData());
    for (const auto &line : tally.unexpected.mid(0, 5))
        qInfo("unexpected %s", line.constData());
}

} // namespace

class TestSeeds : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        // It computes for minutes, beside tests that wait for servers: theirs is the processor when they wake.
        errno = 0;
        QVERIFY(nice(5) != -1 || errno == 0);
        const bool isSeen = seedCount() >= seedsToSeeEverything, isCaught = seedCount() >= seedsToCatchMutants;
        qInfo("up to %d seeds each: what may break %s be seen to break, broken variants %s be caught", seedCount(),
              isSeen ? "must" : "need not", isCaught ? "must" : "need not");
    }
    void guaranteeTableMatchesSimulation_data()
    {
        const Rows<QByteArray> row("recipe");
        for (const auto &recipe : recipes::catalogue()) {
            if (recipe.acquirable && recipe.simulated)
                row(recipe.id, recipe.id);
        }
    }
    void guaranteeTableMatchesSimulation()
    {
        QFETCH(QByteArray, recipe);
        Tally tally;
        playAlone(recipe, tally);
        playUntilSeen(recipe, tally);
        if (qEnvironmentVariableIsSet("LOCKSCOPE_SURVEY")) {
            survey(tally);
            return;
        }
        if (tally.firstUnexpected)
            qInfo("%s", shortestOf(tally).constData());
        QVERIFY2(tally.unexpected.isEmpty(),
                 QByteArray::number(tally.unexpected.size())
                     + " seeds broke what holds, the first: " + tally.unexpected.value(0));
        // Enough seeds to see the rarest of them.
        if (seedCount() < seedsToSeeEverything)
            return;
        OK(unseen(recipe, tally));
    }

    void brokenMutantsAreCaught_data()
    {
        const Rows<QByteArray> row("mutant");
        for (const auto &mutant : mutants())
            row(mutant.id, mutant.id);
    }
    // By something that the recipe it is a mistake in never breaks.
    void brokenMutantsAreCaught()
    {
        QFETCH(QByteArray, mutant);
        if (seedCount() < seedsToCatchMutants)
            QSKIP("too few seeds to catch it");
        const auto &sound = findMutant(mutant)->of;
        Tally tally;
        playAll(mutant, {1, seedsWanted().value_or(seedsToCatchMutants)}, tally);
        if (qEnvironmentVariableIsSet("LOCKSCOPE_SURVEY")) {
            survey(tally);
            return;
        }
        QByteArrayList caught;
        for (const auto &[key, times] : tally.broke) {
            const auto expected = guaranteeRule(sound, key.first, key.second, false);
            if (!expected.mayBreak() || (expected.isRare && times.first >= 5))
                caught << nameOf(key.first) + " breaks " + key.second;
        }
        for (const auto &line : tally.unexpected)
            caught << line;
        QVERIFY2(!caught.isEmpty(), "nothing broke that does not break with " + sound);
    }

    void theSameSeedIsTheSameRun()
    {
        for (const auto &recipe : recipes::catalogue()) {
            if (!recipe.acquirable || !recipe.simulated)
                continue;
            for (quint64 seed = 1; seed <= 10; ++seed) {
                const auto scenario = scenarioOf(recipe.id, seed);
                const auto once = contention::simulate(scenario), again = contention::simulate(scenario);
                QVERIFY2(once && again, recipe.id);
                QVERIFY2(once->eventHash == again->eventHash, describe(scenario));
            }
        }
    }
};

LOCKSCOPE_TEST(TestSeeds)
#include "tst_seeds.moc"
