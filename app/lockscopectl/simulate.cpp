// SPDX-License-Identifier: Apache-2.0
// simulate: contention, played in the simulated world or on real servers, with what it cost and what did not hold.
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/simulated.h"
#include "core/base/text.h"
#include "core/workspace/realrun.h"

#include <QJsonDocument>
#include <QSaveFile>
#include <QThread>

namespace lockscope::ctl {

using contention::Recording;
using contention::Scenario;

namespace {

Error badUsage(const QString &what)
{
    return Error{ErrorCode::BadInput, u"simulate: "_s + what};
}

Result<void> readNumber(CommandContext &context, const QString &option, int least, int most, int *into)
{
    if (!context.has(option))
        return {};
    bool isNumber = false;
    const auto number = context.arguments.value(option).toInt(&isNumber);
    if (!isNumber || number < least || number > most)
        return badUsage(u"--%1 must be a whole number from %2 to %3"_s.arg(option).arg(least).arg(most));
    *into = number;
    return {};
}

Result<void> readSpan(CommandContext &context, const QString &option, std::chrono::milliseconds *into)
{
    if (!context.has(option))
        return {};
    const auto span = parseDuration(context.arguments.value(option));
    if (!span)
        return badUsage(u"--%1: %2"_s.arg(option, span.error().message));
    *into = *span;
    return {};
}

Result<void> readFaults(CommandContext &context, Scenario *scenario)
{
    for (const auto &name : context.arguments.options.value(u"fault"_s)) {
        if (name == "all"_L1) {
            scenario->faults = contention::faultsFor(scenario->recipe);
            continue;
        }
        const auto fault = contention::faultByName(name.toUtf8());
        if (!fault) {
            const auto known = mapped<QStringList>(
                contention::allFaults(), [&](const auto kind) { return QString::fromLatin1(nameOf(kind)); });
            return badUsage(u"unknown fault \"%1\"; faults: %2, all"_s.arg(name, known.join(u", "_s)));
        }
        if (std::find(scenario->faults.begin(), scenario->faults.end(), *fault) == scenario->faults.end())
            scenario->faults.push_back(*fault);
    }
    return {};
}

Result<void> readSeed(CommandContext &context, Scenario *scenario)
{
    if (context.simulatedSeed)
        scenario->seed = *context.simulatedSeed;
    if (!context.has(u"seed"_s))
        return {};
    bool isNumber = false;
    scenario->seed = context.arguments.value(u"seed"_s).toULongLong(&isNumber);
    if (!isNumber)
        return badUsage(u"--seed must be a whole number"_s);
    return {};
}

Result<Scenario> readScenario(CommandContext &context, const QString &recipe)
{
    Scenario scenario;
    scenario.recipe = recipe.toUtf8();
    if (!context.has(u"contenders"_s))
        return badUsage(u"--contenders N is required"_s);
    std::chrono::milliseconds wait{};
    for (const auto &read :
         {readNumber(context, u"contenders"_s, 1, 100'000, &scenario.contenders),
          readNumber(context, u"rounds"_s, 1, 1'000'000, &scenario.rounds),
          readNumber(context, u"limit"_s, 1, 100'000, &scenario.limit),
          readNumber(context, u"readers"_s, 0, 100, &scenario.readersPercent),
          readNumber(context, u"per-process"_s, 1, 100'000, &scenario.perProcess),
          readSpan(context, u"hold"_s, &scenario.hold), readSpan(context, u"ttl"_s, &scenario.ttl),
          readSpan(context, u"session-timeout"_s, &scenario.sessionTimeout), readSpan(context, u"wait"_s, &wait),
          readSpan(context, u"spread"_s, &scenario.arriveWithin), readFaults(context, &scenario),
          readSeed(context, &scenario)}) {
        if (!read)
            return read.error();
    }
    if (context.has(u"wait"_s))
        scenario.wait = wait;
    if (context.has(u"spread"_s))
        scenario.arrival = contention::Arrival::Spread;
    scenario.checksFencingTokens = context.has(u"fencing"_s);
    // Of very many only the counters; whoever wants the events asks for the file.
    scenario.keepsEvents = context.has(u"save"_s);
    if (const auto playable = scenario.check(); !playable)
        return badUsage(playable.error().message);
    return scenario;
}

// --scenario: the JSON itself, or a file with it.
Result<std::vector<Scenario>> readWhole(CommandContext &context)
{
    for (const auto *other : {"recipe", "contenders", "rounds", "hold", "seed", "fault", "spread", "readers", "limit",
                              "ttl", "session-timeout", "wait", "per-process", "fencing"}) {
        if (context.has(QString::fromLatin1(other)))
            return badUsage(u"--scenario says everything; leave out --%1"_s.arg(QString::fromLatin1(other)));
    }
    const auto given = context.arguments.value(u"scenario"_s);
    auto bytes = given.toUtf8();
    if (!given.trimmed().startsWith(u'{')) {
        const auto file = openRegularFile(given);
        if (!file)
            return badUsage(u"cannot read the scenario %1: %2"_s.arg(given, file.error().message));
        bytes = (*file)->readAll();
    }
    QJsonParseError problem;
    const auto json = QJsonDocument::fromJson(bytes, &problem);
    if (!json.isObject())
        return badUsage(u"--scenario is not a JSON object: %1"_s.arg(problem.errorString()));
    auto scenarios = contention::scenariosOf(json.object());
    if (!scenarios)
        return badUsage(scenarios.error().message);
    for (auto &scenario : *scenarios) {
        scenario.keepsEvents = context.has(u"save"_s);
        if (const auto playable = scenario.check(); !playable)
            return badUsage(playable.error().message);
    }
    if (scenarios->size() > 1 && context.has(u"save"_s))
        return badUsage(u"--save takes the recording of one run, and that scenario has %1"_s.arg(scenarios->size()));
    return scenarios;
}

Result<std::vector<Scenario>> readScenarios(CommandContext &context)
{
    if (context.has(u"scenario"_s))
        return readWhole(context);
    std::vector<Scenario> scenarios;
    const auto names = context.arguments.options.value(u"recipe"_s);
    if (names.isEmpty())
        return badUsage(u"--recipe is required; run \"lockscopectl recipes\" to list recipes"_s);
    if (names.size() > 1 && context.has(u"save"_s))
        return badUsage(u"--save takes the recording of one recipe"_s);
    for (const auto &name : names) {
        TRY(const auto &scenario, readScenario(context, name));
        scenarios.push_back(scenario);
    }
    return scenarios;
}

QString ms(contention::Moment moment)
{
    return formatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(moment));
}

void printGivenUp(const std::vector<Recording> &runs)
{
    const auto isAny = [](const Recording &run) { return run.counters.gaveUp > 0; };
    if (std::ranges::none_of(runs, isAny))
        return;
    print(u"\nGAVE UP: waits that ended without the lock, by the last reply to the contender"_s);
    for (const auto &run : runs) {
        for (const auto &[reason, count] : run.counters.gaveUpBecause)
            print(u"  %1: %2 × %3"_s.arg(QString::fromUtf8(run.scenario.recipe), QString::number(count),
                                         reason.isEmpty() ? u"no reason is known"_s
                                                          : harmless(QString::fromUtf8(reason))));
    }
}

void printTable(const std::vector<Recording> &runs)
{
    Table table(Table::columnsOf(
        u"RECIPE|SERVER|>GRANTS|>GAVE UP|>REQUESTS|>EVENTS|>WASTED|>WAIT P50|>P99|>MAX|>TOOK|>BROKEN"_s));
    for (const auto &run : runs) {
        const auto &counters = run.counters;
        const auto ofDrain = [&](qint64 count) { return run.hasDrain() ? QString::number(count) : u"-"_s; };
        table.add({QString::fromUtf8(run.scenario.recipe), escaped(run.world), QString::number(counters.grants),
                   counters.gaveUp > 0 ? QString::number(counters.gaveUp) : u"-"_s, ofDrain(counters.requests),
                   ofDrain(counters.watchEvents),
                   counters.watchEvents > 0 ? ofDrain(counters.wastedWakeups) : u"-"_s, // nobody is told at all
                   ms(counters.waits.p50), ms(counters.waits.p99), ms(counters.waits.max), ms(run.elapsed),
                   run.violations.empty() ? u"-"_s : QString::number(run.violations.size())});
    }
    print(table.text(terminalWidth()));
    for (const auto &run : runs) {
        if (contention::isOptimistic(run.scenario.recipe))
            print(
                u"%1: no client is kept out; GRANTS counts every start of the work, including repeats after conflicts."_s
                    .arg(QString::fromUtf8(run.scenario.recipe)));
        if (!run.note.isEmpty())
            print(u"%1: %2"_s.arg(QString::fromUtf8(run.scenario.recipe), escaped(run.note)));
        if (run.isCut)
            print(u"%1: the recording has its first %2 events; %3 more are in the counters only"_s.arg(
                QString::fromUtf8(run.scenario.recipe), QString::number(run.events.size()),
                QString::number(run.eventsNotKept)));
        constexpr std::size_t most = 20;
        for (std::size_t i = 0; i < std::min(most, run.violations.size()); ++i) {
            const auto &violation = run.violations[i];
            print(u"%1: %2 at %3: %4 (--seed %5 plays it again)"_s.arg(
                QString::fromUtf8(run.scenario.recipe), QString::fromLatin1(violation.invariant), ms(violation.at),
                violation.message, QString::number(run.scenario.seed)));
        }
        if (run.violations.size() > most)
            print(u"… and %1 more; --json has all of them"_s.arg(run.violations.size() - most));
    }
    printGivenUp(runs);
    print(
        u"\nREQUESTS, EVENTS and WASTED (wake-ups after which the lock was not had) are those of the drain: from the "
        u"first release to the last."_s);
}

// By the runs' places, where something did not hold and a search was wanted.
using Shorter = std::map<std::size_t, contention::Shortest>;

QJsonObject answer(const std::vector<Recording> &runs, const Shorter &shorter)
{
    QJsonArray array;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        auto entry = runs[i].toJson();
        if (runs.size() > 1) // else it is the one above
            entry.insert(u"scenario"_s, runs[i].scenario.toJson());
        if (const auto found = shorter.find(i); found != shorter.end())
            entry.insert(u"shortest"_s, toJson(found->second, runs[i].violations.front().invariant));
        array.append(entry);
    }
    return {{u"scenario"_s, runs.front().scenario.toJson()}, {u"runs"_s, array}};
}

// The first connection whose servers speak the recipe's language.
Result<ConnectionName> connectionFor(CommandContext &context, const Scenario &scenario)
{
    const auto *recipe = recipes::findRecipe(scenario.recipe);
    if (!recipe)
        return badUsage(
            u"%1 is deliberately broken and runs only in the simulator (sim:)"_s.arg(label(scenario.recipe)));
    for (auto *link : context.workspace.links()) {
        if (backendOf(link->spec().scheme) == recipe->backend)
            return link->spec().name;
    }
    return badUsage(u"recipe %1 is for another kind of server than those connected"_s.arg(label(scenario.recipe)));
}

Task<Result<Recording>> playOnServers(CommandContext &context, Scenario scenario)
{
    CO_TRY(const auto &connection, connectionFor(context, scenario));
    RealRunOptions options{scenario, connection};
    CO_TRY_VOID(readNumber(context, u"sessions"_s, 1, 1000, &options.mostSessions));
    RealRun onServers(context.workspace, options);
    context.interrupts.setHandler([&onServers](Interrupt) { onServers.cancel(); });
    auto played = co_await onServers.play();
    co_return played;
}

Task<Result<Recording>> play(CommandContext &context, Scenario scenario)
{
    if (context.workspace.links().empty()) {
        auto played = co_await playSimulated(context, scenario);
        co_return std::move(played);
    }
    auto played = co_await playOnServers(context, scenario);
    co_return played;
}

Result<void> save(CommandContext &context, const Recording &recording)
{
    const auto name = context.arguments.value(u"save"_s);
    QSaveFile file(name);
    const auto bytes = recording.save();
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return Error{ErrorCode::BadInput, u"could not write the recording to %1: %2"_s.arg(name, file.errorString())};
    return {};
}

} // namespace

Task<Result<Exit>> runSimulate(CommandContext &context)
{
    CO_TRY(const auto &scenarios, readScenarios(context));
    std::vector<Recording> runs;
    std::vector<int> replays;
    for (const auto &scenario : scenarios) {
        CO_TRY(const auto &most, replaysFor(context, scenario));
        replays.push_back(most);
        CO_TRY(auto &played, co_await play(context, scenario));
        runs.push_back(std::move(played));
    }
    if (context.has(u"save"_s)) {
        CO_TRY_VOID(save(context, runs.front()));
    }
    if (!context.json)
        printTable(runs);
    Shorter shorter;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].violations.empty() || replays[i] == 0)
            continue;
        const auto scenario = runs[i].scenario;
        const auto invariant = runs[i].violations.front().invariant;
        const auto most = replays[i];
        CO_TRY(const auto &found, co_await findShortest(context, scenario, invariant, most));
        shorter.emplace(i, found);
        if (!context.json)
            printShortest(found, invariant);
    }
    if (context.json)
        printJson(answer(runs, shorter));
    co_return Exit::Done;
}

using contention::Shortest;

namespace {

// In a thread of its own.
template <typename T>
Task<T> computed(Loop &loop, std::function<T()> compute)
{
    const Completion<std::shared_ptr<T>> done(loop);
    const std::unique_ptr<QThread> thread(QThread::create([done, compute, &loop] {
        loop.post([done, result = std::make_shared<T>(compute())] { done.complete(result); });
    }));
    thread->start();
    const auto result = co_await done;
    thread->wait();
    co_return std::move(*result);
}

constexpr int replaysByDefault = 200;
constexpr int mostReplays = 100'000;
// Contenders times rounds: what is larger takes longer than a moment, and is searched on demand.
constexpr qint64 largestByDefault = 2000;
constexpr std::size_t mostLines = 200;

QString storyOf(const Shortest &shortest, const QByteArray &invariant)
{
    const auto &violations = shortest.recording.violations;
    const auto at = std::ranges::find(violations, invariant, &contention::Violation::invariant);
    return at == violations.end() ? QString() : contention::explain(shortest.recording, *at);
}

} // namespace

Task<Result<contention::Recording>> playSimulated(CommandContext &context, contention::Scenario scenario)
{
    return computed<Result<contention::Recording>>(context.loop(),
                                                   [scenario] { return contention::simulate(scenario); });
}

Result<int> replaysFor(CommandContext &context, const contention::Scenario &scenario)
{
    if (context.has(u"shrink"_s)) {
        bool isNumber = false;
        const auto number = context.arguments.value(u"shrink"_s).toInt(&isNumber);
        if (!isNumber || number < 0 || number > mostReplays)
            return Error{ErrorCode::BadInput,
                         u"simulate: --shrink must be a whole number from 0 to %1"_s.arg(mostReplays)};
        return number;
    }
    const auto size = qint64(scenario.contenders) * scenario.rounds;
    return context.json || !context.workspace.links().empty() || size > largestByDefault ? 0 : replaysByDefault;
}

Task<Result<Shortest>> findShortest(CommandContext &context, contention::Scenario scenario, QByteArray invariant,
                                    int most)
{
    return computed<Result<Shortest>>(context.loop(), [scenario, invariant, most] {
        return contention::shrink(scenario, contention::breaks(invariant), most);
    });
}

void printShortest(const Shortest &shortest, const QByteArray &invariant)
{
    print(u"\nThe shortest schedule found that breaks %1 (%2 replays):\n    %3"_s.arg(
        QString::fromLatin1(invariant), QString::number(shortest.replays),
        contention::commandLine(shortest.recording.scenario)));
    const auto lines = contention::eventLines(shortest.recording, invariant, mostLines);
    for (const auto &line : lines)
        print(line);
    if (const auto story = storyOf(shortest, invariant); !story.isEmpty())
        print(u"\nWhat happened: %1."_s.arg(story));
}

QJsonObject toJson(const Shortest &shortest, const QByteArray &invariant)
{
    const auto lines = contention::eventLines(shortest.recording, invariant, mostLines);
    return {{u"invariant"_s, QString::fromLatin1(invariant)},
            {u"scenario"_s, shortest.recording.scenario.toJson()},
            {u"command"_s, contention::commandLine(shortest.recording.scenario)},
            {u"replays"_s, shortest.replays},
            {u"explanation"_s, storyOf(shortest, invariant)},
            {u"events"_s, QJsonArray::fromStringList(lines)}};
}

} // namespace lockscope::ctl
