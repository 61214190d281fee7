// SPDX-License-Identifier: Apache-2.0
#include "app/lockscopectl/simulated.h"

#include "app/lockscopectl/output.h"
#include "core/contention/explain.h"

#include <QJsonArray>
#include <QThread>

#include <algorithm>

namespace lockscope::ctl {

using contention::Shortest;

Task<Result<contention::Recording>> playSimulated(CommandContext &context, contention::Scenario scenario)
{
    const Completion<std::shared_ptr<Result<contention::Recording>>> played(context.loop());
    Loop *loop = &context.loop();
    const std::unique_ptr<QThread> thread(QThread::create([played, scenario, loop] {
        auto result = std::make_shared<Result<contention::Recording>>(contention::simulate(scenario));
        loop->post([played, result = std::move(result)] { played.complete(result); });
    }));
    thread->start();
    const auto result = co_await played;
    thread->wait();
    co_return std::move(*result);
}

namespace {

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
    const Completion<Result<Shortest>> found(context.loop());
    Loop *loop = &context.loop();
    const std::unique_ptr<QThread> thread(QThread::create([found, scenario, invariant, most, loop] {
        const auto result = contention::shrink(scenario, contention::breaks(invariant), most);
        loop->post([found, result] { found.complete(result); });
    }));
    thread->start();
    const auto result = co_await found;
    thread->wait();
    co_return result;
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
