// SPDX-License-Identifier: Apache-2.0
// Files that anybody may have written: recordings, runs, scenarios, lessons, connections, the audit record.
#include "core/connections/connectionstore.h"
#include "core/contention/recording.h"
#include "core/history/recording.h"
#include "core/history/timeline.h"
#include "core/lessons/lessons.h"
#include "core/operate/audit.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/locks.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QTemporaryDir>

namespace lockscope::fuzz {

// In memory where it can be: what a busy disk takes is no time of the processor, which --seconds counts.
QString pathOf(const char *name)
{
    const auto inMemory = QStringLiteral("/dev/shm");
    const auto place = QFileInfo(inMemory).isWritable() ? inMemory : QDir::tempPath();
    static const QTemporaryDir folder(place + QStringLiteral("/lockscope-fuzz-XXXXXX"));
    return folder.filePath(QString::fromLatin1(name));
}

QString writtenTo(const char *name, const QByteArray &bytes)
{
    QFile file(pathOf(name));
    if (!file.open(QFile::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(file.fileName()));
    return file.fileName();
}

namespace {

void useRecording(const history::FlightRecording &recording)
{
    const auto end = recording.at(recording.end());
    (void)recording.at(recording.begin());
    const auto walked =
        recording.walk(recording.begin(), recording.end(), [](const inspect::Change &) { return true; });
    if (!end || !walked)
        return;
    int left = 5;
    for (const auto &[name, lock] : end->locks) {
        if (left-- == 0)
            break;
        useLock(lockAsOf(*end, lock, recording.end()));
        if (const auto history = recording.historyOf(name, recording.end()))
            (void)timelineOf(*history);
    }
}

void readRecording(const QByteArray &input)
{
    const auto recording = history::FlightRecording::open({writtenTo("recording", input)});
    if (recording)
        useRecording(*recording);
}

// What is in a recording's chunks, without the checksums that would keep nearly all spoilt ones out.
void readChangesOf(int version, const QByteArray &input)
{
    history::ChangeReader reader(input, version);
    QByteArray written;
    int count = 0;
    while (!reader.atEnd()) {
        const auto change = reader.next();
        if (!change)
            break;
        history::encode(*change, written);
        ++count;
    }
    history::ChangeReader second(written);
    QByteArray again;
    for (int i = 0; i < count; ++i) {
        const auto change = second.next();
        must(bool(change), "a change that was read can be written and read again");
        history::encode(*change, again);
    }
    must(second.atEnd() && again == written, "and is the same");
}

void readChanges(const QByteArray &input)
{
    for (int version = history::oldestFormat; version <= history::formatVersion; ++version)
        readChangesOf(version, input);
}

void readScenario(const QByteArray &input)
{
    const auto scenario = contention::Scenario::fromJson(QJsonDocument::fromJson(input).object());
    if (!scenario)
        return;
    (void)scenario->check();
    const auto again = contention::Scenario::fromJson(scenario->toJson());
    must(again && *again == *scenario, "a scenario reads back as what it was");
}

void readRun(const QByteArray &input)
{
    const auto run = contention::Recording::load(input);
    if (!run)
        return;
    (void)run->toJson();
    (void)run->toCsv();
    const auto saved = run->save();
    const auto again = contention::Recording::load(saved);
    must(again && again->save() == saved, "a run reads back as what it was");
}

void readOneLesson(const QByteArray &input)
{
    const auto lesson = lessons::readLesson(input, QStringLiteral("lesson.json"));
    if (!lesson)
        return;
    must(!lesson->runs.empty() && lesson->runs.size() <= 2, "a lesson has a run or two");
    for (const auto &proof : lesson->proves)
        must(proof.run < lesson->runs.size() && proof.otherRun.value_or(0) < lesson->runs.size(),
             "a proof is of a run");
    for (const auto &step : lesson->steps)
        must(!step.question || step.question->right < step.question->choices.size(), "a question has a right answer");
}

void readConnections(const QByteArray &input)
{
    const auto file = writtenTo("connections.json", input);
    ConnectionStore store(file, nullptr);
    for (const auto &saved : store.all()) {
        must(!saved.id.isEmpty() && store.find(saved.id), "a saved connection is found by its id");
        const auto spec = specOf(saved, QStringLiteral("a password that nobody has"));
        if (spec)
            must(!uriOf(*spec).contains(QStringLiteral("nobody")), "a password is not written into an address");
    }
    if (store.all().empty())
        return;
    const auto all = store.all();
    if (!store.save(all.front()))
        return;
    const ConnectionStore again(file, nullptr);
    must(again.all() == store.all(), "saved connections read back as they were");
}

void readAudit(const QByteArray &input)
{
    auto lines = input;
    (void)writtenTo("audit.jsonl.head", takeLine(lines));
    const operate::AuditFile audit(writtenTo("audit.jsonl", lines));
    QStringList problems;
    const auto records = audit.read(&problems);
    must(bool(records), "an audit file that can be opened is read");
    must(records->size() + static_cast<std::size_t>(problems.size())
             <= 2 * static_cast<std::size_t>(lines.count('\n') + 2),
         "there are no more records and problems than lines");
    for (const auto &record : *records)
        must(!toJson(record).isEmpty(), "a record can be told");
}

constexpr Limits ofFiles{
    .blocks = 3'000'000, .blocksPerByte = 20'000, .allocations = 200'000, .allocationsPerByte = 300};
// A chunk says how large it is unpacked, and may be that.
constexpr Limits ofChunks{.blocks = 3'000'000,
                          .blocksPerByte = 20'000,
                          .allocations = 400'000,
                          .allocationsPerByte = 2000,
                          .memory = 3 * history::mostRaw};

const QByteArrayList lessonWords{
    "id",    "title",   "summary",   "runs",   "scenario", "steps",     "text",         "question",   "choices",
    "right", "because", "until",     "proves", "counter",  "violation", "events",       "en",         "zh_CN",
    "ru",    "mark",    "contender", "what",   "isWasted", "count",     "recipe",       "contenders", "rounds",
    "hold",  "faults",  "planned",   "seed",   "end",      "zk-mutex",  "redis-set-nx", "pause",      "exclusion"};
const QByteArrayList scenarioWords{"zk-mutex", "redisson-lock", "redlock",    "sql-for-update", "pause",
                                   "crash",    "lose-request",  "lose-reply", "expire",         "planned",
                                   "withheld", "faults",        "kind",       "atMs",           "contender"};

const Registration recordingParser({"recording", readRecording, Form::Bytes, {0.3, 4'000}, {}, 20'000, ofChunks});
const Registration changesParser({"changes", readChanges, Form::Bytes, {0.7, 100'000}, {}, 8192, ofFiles});
const Registration scenarioParser(
    {"scenario", readScenario, Form::Json, {0.15, 40'000}, scenarioWords, 8192, ofFiles});
const Registration simulatedParser({"run", readRun, Form::Json, {0.15, 2'000}, scenarioWords, 16'000, ofFiles});
const Registration lessonParser({"lesson", readOneLesson, Form::Json, {0.2, 4'000}, lessonWords, 20'000, ofFiles});
const Registration connectionsParser({"connections",
                                      readConnections,
                                      Form::Json,
                                      {0.2, 4'000},
                                      {"version", "connections", "id", "name", "group", "colour", "uri", "user",
                                       "production", "readOnly", "hasPassword", "zk://h:1", "redis://:x@h", "red"},
                                      8192,
                                      ofFiles});
const Registration auditParser({"audit",
                                readAudit,
                                Form::Lines,
                                {0.15, 4'000},
                                {"\"hash\":", "\"phase\":\"intent\"", "\"phase\":\"result\"", "{}"},
                                8192,
                                ofFiles});

} // namespace

} // namespace lockscope::fuzz
