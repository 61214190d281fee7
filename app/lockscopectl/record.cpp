// SPDX-License-Identifier: Apache-2.0
// record: the flight recorder: every change of every lock, session and finding, to a file.
#include "app/lockscopectl/output.h"
#include "core/base/text.h"
#include "core/workspace/newsfeed.h"

#include <QDir>
#include <QLockFile>

#include <ranges>

namespace lockscope::ctl {

namespace {

constexpr qint64 mebibyte = 1024 * 1024;

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

// --dir: a bounded recording of several files, which goes on where a run before it ended.
struct RecordFolder {
    QString path;
    history::RecordingBounds bounds{std::chrono::days(7), 1024 * mebibyte};
    std::unique_ptr<QLockFile> owner{};
};

Result<RecordFolder> folderOf(const CommandContext &context)
{
    RecordFolder folder{.path = context.arguments.value(u"dir"_s)};
    for (const auto &option : {u"keep"_s, u"size"_s}) {
        if (context.has(option) && folder.path.isEmpty())
            return Error{ErrorCode::BadInput, u"record: --%1 needs --dir DIR"_s.arg(option)};
    }
    if (folder.path.isEmpty() == context.word(0).isEmpty())
        return Error{ErrorCode::BadInput, u"record takes FILE or --dir DIR; see \"lockscopectl record --help\""_s};
    if (context.has(u"keep"_s)) {
        TRY(folder.bounds.span, parseDuration(context.arguments.value(u"keep"_s)));
        if (folder.bounds.span < std::chrono::minutes(1))
            return Error{ErrorCode::BadInput, u"record: --keep takes at least 1m"_s};
    }
    bool isNumber = true;
    if (context.has(u"size"_s))
        folder.bounds.bytes = context.arguments.value(u"size"_s).toInt(&isNumber) * mebibyte;
    if (!isNumber || folder.bounds.bytes <= 0)
        return Error{ErrorCode::BadInput,
                     u"record: --size takes a number of MiB, not \"%1\""_s.arg(context.arguments.value(u"size"_s))};
    return folder;
}

Result<std::unique_ptr<history::RotatingWriter>> writerIn(RecordFolder &folder, history::Moment now)
{
    if (!QFileInfo(folder.path).isDir()) {
        if (!QDir().mkpath(folder.path))
            return Error{ErrorCode::Server, u"record: could not create the folder %1"_s.arg(folder.path)};
        QFile::setPermissions(folder.path, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    folder.owner = std::make_unique<QLockFile>(folder.path + u"/owner"_s);
    folder.owner->setStaleLockTime(0);
    if (!folder.owner->tryLock(0))
        return Error{ErrorCode::Server, folder.owner->error() == QLockFile::LockFailedError
                                            ? u"record: another process records to %1"_s.arg(folder.path)
                                            : u"record: could not write to %1"_s.arg(folder.path)};
    return history::RotatingWriter::create(folder.path, folder.bounds, now);
}

void printFolder(CommandContext &context, const QString &path)
{
    qint64 bytes = 0;
    const auto files = history::filesIn(path);
    for (const auto &file : files)
        bytes += QFileInfo(file).size();
    if (context.json)
        printJson(QJsonObject{{u"dir"_s, path}, {u"files"_s, qint64(files.size())}, {u"bytes"_s, bytes}});
    else
        print(u"%1, %2 in %3"_s.arg(amountOf(files.size(), "file"_L1, "files"_L1),
                                    amountOf(bytes, "byte"_L1, "bytes"_L1), path));
}

} // namespace

Task<Result<Exit>> runRecord(CommandContext &context)
{
    std::optional<std::chrono::milliseconds> span;
    if (context.has(u"for"_s)) {
        CO_TRY(const auto &given, parseDuration(context.arguments.value(u"for"_s)));
        span = given;
    }
    CO_TRY(auto &folder, folderOf(context));
    const bool isFolder = !folder.path.isEmpty();
    const history::RecordingWriter *file = nullptr;
    std::unique_ptr<history::ChangeWriter> writer;
    if (isFolder) {
        CO_TRY(auto &rotating, writerIn(folder, context.pictures.now()));
        writer = std::move(rotating);
    } else {
        CO_TRY(auto &single, history::RecordingWriter::create(context.word(0), context.pictures.now()));
        file = single.get();
        writer = std::move(single);
    }
    const Completion<Exit> ended(context.loop());
    context.interrupts.setHandler([ended](Interrupt) { ended.complete(Exit::Done); });
    history::Recorder recorder(context.loop(), std::move(writer),
                               [ended](const Error &error) { ended.complete(fail(error)); });
    RecordFeed feed(context.workspace, recorder);
    const Forwarding forwarding(context.sink, recorder);
    const auto connected = co_await connectAll(context);
    if (connected != Exit::Done && !isFolder) { // what runs on waits for the connection
        QFile::remove(context.word(0));
        co_return connected;
    }
    if (!context.json && !ended.isComplete())
        printNote(u"recording to %1; Ctrl-C ends it\n"_s.arg(isFolder ? folder.path : context.word(0)));
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
    if (file)
        printRecorded(context, *file);
    else
        printFolder(context, folder.path);
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

// The files of a folder that make up one recording, up to the newest. A crash may have left one without a snapshot,
// an older version one in its format, and a clock that was ahead one that ends after the next begins.
QStringList filesToReplay(const QString &path)
{
    if (!QFileInfo(path).isDir())
        return {path};
    QStringList files;
    std::optional<history::FlightRecording> next;
    const auto all = history::filesIn(path);
    for (const auto &file : all | std::views::reverse) {
        auto opened = history::FlightRecording::open({file});
        if (!opened)
            printError(opened.error().message);
        else if (next && opened->version() != next->version())
            printError(u"%1 is left out: it is in format %2, and newer files are in format %3"_s.arg(
                file, QString::number(opened->version()), QString::number(next->version())));
        else if (next && opened->end() > next->begin())
            printError(u"%1 is left out: it ends at %2, and the next file begins at %3"_s.arg(
                file, inspect::isoTime(opened->end()), inspect::isoTime(next->begin())));
        else {
            next = std::move(*opened);
            files.prepend(file);
        }
    }
    return files.isEmpty() ? QStringList{path} : files;
}

void printRecordedTime(const RecordedMoment &moment)
{
    const auto &recording = *moment.recording;
    const auto before = recording.end() - moment.asOf;
    const auto when = before.count() == 0 ? u"its end"_s : u"%1 before its end"_s.arg(formatDuration(before));
    for (const auto &line : recording.damage())
        printError(line);
    printError(u"%1: a recording, not the servers; as of %2, %3"_s.arg(firstNamed(recording.files(), 3),
                                                                       inspect::isoTime(moment.asOf), when));
}

} // namespace

Task<Result<Exit>> runReplay(CommandContext &context)
{
    auto inner = context.arguments;
    inner.words = inner.words.mid(2);
    CO_TRY(const auto &command, innerCommand(inner));
    CO_TRY(const auto &recording, history::FlightRecording::open(filesToReplay(context.word(0))));
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
