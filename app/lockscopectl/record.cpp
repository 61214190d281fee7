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
#include "core/workspace/recordfeed.h"

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

Task<Exit> record(CommandContext &context)
{
    std::optional<std::chrono::milliseconds> span;
    if (context.has(u"for"_s)) {
        const auto given = parseDuration(context.arguments.value(u"for"_s));
        if (!given)
            co_return fail(given.error());
        span = *given;
    }
    auto writer = history::RecordingWriter::create(context.word(0), context.pictures.now());
    if (!writer)
        co_return fail(writer.error());
    const Completion<Exit> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(Exit::Done); });
    history::Recorder recorder(context.loop(), std::move(*writer),
                               [ended](const Error &error) { ended.complete(fail(error)); });
    RecordFeed feed(context.workspace, recorder);
    const Forwarding forwarding(context.sink, recorder);
    auto connecting = connectAll(context);
    const auto connected = co_await connecting;
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

} // namespace

CommandSpec recordCommand()
{
    CommandSpec spec;
    spec.name = u"record"_s;
    spec.words = u"FILE"_s;
    spec.summary = u"record locks, sessions and findings to FILE"_s;
    spec.more =
        u"FILE must not exist yet. Only its owner may read it, and it has no secrets. `lockscopectl replay FILE` answers from it on any machine, without a server."_s;
    spec.options = {
        {u"for"_s, u"D"_s, u"stop after this time (default: when interrupted)"_s},
        {u"all"_s, {}, u"include low-confidence locks"_s},
    };
    spec.fewestWords = spec.mostWords = 1;
    spec.observes = spec.follows = true;
    spec.examples = {u"record incident.lockscope"_s, u"record incident.lockscope --for 1s"_s};
    spec.run = record;
    return spec;
}

} // namespace lockscope::ctl
