// SPDX-License-Identifier: Apache-2.0
// replay: what a recording shows as of a moment, by the commands that answer from servers.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "core/base/duration.h"
#include "core/inspect/json.h"

#include <algorithm>

namespace lockscope::ctl {

namespace {

QStringList replayable()
{
    QStringList names;
    for (const auto &command : commands()) {
        if (command.isReplayable)
            names << command.name;
    }
    return names;
}

// The command and its words, checked as when it is called by itself.
Result<const CommandSpec *> innerCommand(const Arguments &inner)
{
    const auto bad = [](const QString &what) { return Error{ErrorCode::BadInput, u"replay: "_s + what}; };
    const auto *command = findCommand(inner.words.value(0));
    if (!command || !command->isReplayable)
        return bad((command ? u"\"%1\" is not answered from a recording, which is read-only; %2 are"_s
                            : u"\"%1\" is not answered from a recording; %2 are"_s)
                       .arg(inner.words.value(0), replayable().join(u", "_s)));
    const auto given = inner.words.size() - 1;
    if (given < command->fewestWords)
        return bad(u"%1 requires %2"_s.arg(command->name, command->words));
    if (given > command->mostWords)
        return bad(u"%1: unexpected argument \"%2\""_s.arg(command->name, inner.words.last()));
    for (const auto &name : inner.options.keys()) {
        const auto isNamed = [&name](const OptionSpec &option) { return option.name == name; };
        const bool isKnown = std::ranges::any_of(command->options, isNamed)
                             || std::ranges::any_of(app::sharedOptions(), isNamed) || name == "at"_L1;
        if (!isKnown)
            return bad(u"%1 knows no --%2"_s.arg(command->name, name));
    }
    return command;
}

void printRecordedTime(const RecordedMoment &moment)
{
    const auto &recording = *moment.recording;
    const auto before = recording.end() - moment.asOf;
    const auto when = before.count() == 0 ? u"its end"_s : u"%1 before its end"_s.arg(formatDuration(before));
    for (const auto &line : recording.damage())
        printError(line);
    printError(u"%1: a recording, not the servers; as of %2, %3"_s.arg(recording.files().join(u", "_s),
                                                                       inspect::isoTime(moment.asOf), when));
}

Task<Exit> replay(CommandContext &context)
{
    auto inner = context.arguments;
    inner.words = inner.words.mid(2);
    const auto command = innerCommand(inner);
    if (!command)
        co_return fail(command.error());
    const auto recording = history::FlightRecording::open({context.word(0)});
    if (!recording)
        co_return fail(recording.error());
    const auto at = inner.has(u"at"_s) ? history::momentIn(*recording, inner.value(u"at"_s))
                                       : Result<history::Moment>(recording->end());
    if (!at)
        co_return fail(at.error());
    auto picture = recording->at(*at);
    if (!picture)
        co_return fail(picture.error());
    RecordedSnapshots pictures(*recording, *at, std::move(*picture), context.labels);
    printRecordedTime(*pictures.recorded());
    CommandContext then{inner,        context.workspace, pictures, context.sink,  context.interrupts,
                        context.json, context.readOnly,  {},       context.labels};
    auto running = (*command)->run(then);
    const auto status = co_await running;
    co_return status;
}

} // namespace

CommandSpec replayCommand()
{
    CommandSpec spec;
    spec.name = u"replay"_s;
    spec.words = u"FILE COMMAND…"_s;
    spec.summary = u"answer an inspecting command from a recording"_s;
    spec.more =
        u"Answers as of the end of the recording, or as of --at. 10:00:00 is a time of its last day, -5m is before its end, and a time without a zone is local. COMMAND takes its own words and options."_s;
    spec.options = {
        {u"at"_s, u"TIME"_s, u"answer as of 2026-03-01T10:00:00Z, 10:00:00 or -5m"_s},
    };
    spec.fewestWords = 2;
    spec.mostWords = 9;
    spec.connects = false;
    spec.isReplay = true;
    spec.examples = {u"replay incident.lockscope locks"_s,
                     u"replay incident.lockscope show zk:/locks/orders --timeline"_s};
    spec.run = replay;
    return spec;
}

} // namespace lockscope::ctl
