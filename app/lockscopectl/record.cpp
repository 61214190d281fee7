// SPDX-License-Identifier: Apache-2.0
// record: the flight recorder: every change of every lock, session and finding, to a file.
#include "app/lockscopectl/command.h"
#include "app/lockscopectl/output.h"
#include "core/async/completion.h"
#include "core/base/clock.h"
#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/history/flightrecorder.h"
#include "core/inspect/json.h"
#include "core/workspace/newsfeed.h"

#include <algorithm>

namespace lockscope::ctl {

namespace {

// The observers tell it until it is gone.
class Forwarding {
public:
    Forwarding(Sink &sink, inspect::ObserverSink &to) : m_sink(sink) { m_sink.forwardTo(&to); }
    ~Forwarding() { m_sink.forwardTo(nullptr); }
    Q_DISABLE_COPY(Forwarding)

private:
    Sink &m_sink;
};

void printRecorded(CommandContext &context, const history::RecordingWriter &writer)
{
    if (context.json) {
        printJson(QJsonObject{{u"file"_s, writer.path()},
                              {u"locks"_s, writer.locksSeen()},
                              {u"changes"_s, writer.lockChanges()},
                              {u"bytes"_s, writer.bytes()},
                              {u"from"_s, inspect::isoTime(writer.begin())},
                              {u"to"_s, inspect::isoTime(writer.end())}});
        return;
    }
    const auto count = [](qint64 number, const QString &one, const QString &many) {
        return u"%L1 "_s.arg(number) + (number == 1 ? one : many);
    };
    print(u"recorded %1, %2, %3, from %4 to %5 (%6) in %7"_s.arg(
        count(writer.locksSeen(), u"lock"_s, u"locks"_s), count(writer.lockChanges(), u"change"_s, u"changes"_s),
        count(writer.bytes(), u"byte"_s, u"bytes"_s), inspect::isoTime(writer.begin()),
        inspect::isoTime(writer.end()), formatDuration(writer.end() - writer.begin()), writer.path()));
}

} // namespace

Task<Result<Exit>> runRecord(CommandContext &context)
{
    std::optional<std::chrono::milliseconds> span;
    if (context.has(u"for"_s)) {
        CO_TRY(const auto &given, parseDuration(context.arguments.value(u"for"_s)));
        span = given;
    }
    CO_TRY(auto &writer, history::RecordingWriter::create(context.word(0), context.pictures.now()));
    const Completion<Exit> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(Exit::Done); });
    history::Recorder recorder(context.loop(), std::move(writer),
                               [ended](const Error &error) { ended.complete(fail(error)); });
    RecordFeed feed(context.workspace, recorder);
    const Forwarding forwarding(context.sink, recorder);
    const auto connected = co_await connectAll(context);
    if (connected != Exit::Done) {
        QFile::remove(context.word(0));
        co_return connected;
    }
    if (!context.json && !ended.isComplete())
        printNote(u"recording to %1; Ctrl-C ends it\n"_s.arg(context.word(0)));
    if (span)
        ended.completeAt(Deadline::after(context.loop(), *span), Exit::Done);
    const auto status = co_await ended;
    feed.tell();
    if (const auto flushed = recorder.end(); !flushed)
        co_return Exit::Failed; // it was told
    for (const auto &line : coverageWords(context))
        printError(line);
    if (programClock().setBy().count() != 0)
        printError(
            u"times in the recording use this machine's clock as of the start of lockscopectl, not as set since then"_s);
    printRecorded(context, recorder.writer());
    co_return status;
}

// replay: what a recording shows as of a moment, by the commands that answer from servers.

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

} // namespace

Task<Result<Exit>> runReplay(CommandContext &context)
{
    auto inner = context.arguments;
    inner.words = inner.words.mid(2);
    CO_TRY(const auto &command, innerCommand(inner));
    CO_TRY(const auto &recording, history::FlightRecording::open({context.word(0)}));
    CO_TRY(const auto &at, inner.has(u"at"_s) ? history::momentIn(recording, inner.value(u"at"_s))
                                              : Result<history::Moment>(recording.end()));
    CO_TRY(auto &picture, recording.at(at));
    const auto pictures = recordedSnapshots(recording, at, std::move(picture), context.labels);
    printRecordedTime(*pictures->recorded());
    CommandContext then{inner,        context.workspace, *pictures, context.sink,  context.interrupts,
                        context.json, context.readOnly,  {},        context.labels};
    const auto status = co_await command->run(then);
    co_return status;
}

} // namespace lockscope::ctl
