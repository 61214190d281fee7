// SPDX-License-Identifier: Apache-2.0
#include "core/lessons/lessons.h"

#include "core/base/fieldreader.h"
#include "core/base/text.h"
#include "core/contention/guarantees.h"

#include <QDir>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QStandardPaths>

#include <limits>
#include <set>

namespace lockscope::lessons {

Text readText(FieldReader reader)
{
    const Text text{reader.text("en", QString()), reader.text("zh_CN", QString()), reader.text("ru", QString())};
    reader.nothingElse();
    if (text.in(Language::English).isEmpty())
        reader.wrong({}, u"a text in \"en\", \"zh_CN\" or \"ru\""_s);
    return text;
}

namespace {

constexpr qint64 largestFile = 1 << 20;
constexpr auto lessonSchema = "lockscope-lesson/1"_L1;
// What can still be shown: a lesson is no benchmark.
constexpr int mostContendersInLesson = 2000;

QList<QByteArray> namesOfMarks()
{
    QList<QByteArray> names;
    for (int i = 0; i < contention::markCount; ++i)
        names << nameOf(static_cast<contention::Mark>(i));
    return names;
}

QList<QByteArray> invariantNames()
{
    return mapped<QList<QByteArray>>(contention::invariants(), [&](const auto &invariant) { return invariant.name; });
}

LessonRun readRun(FieldReader reader)
{
    LessonRun run;
    run.title = readText(reader.object("title"));
    auto object = reader.object("scenario");
    reader.nothingElse();
    const auto scenario = contention::Scenario::fromJson(object.json());
    const auto playable = scenario ? scenario->check() : Result<void>(scenario.error());
    if (!playable) {
        object.wrong({}, u"one that can be played: %1"_s.arg(playable.error().message));
        return run;
    }
    if (scenario->contenders > mostContendersInLesson)
        object.wrong(u"contenders"_s, u"%1 at most"_s.arg(mostContendersInLesson));
    if (!scenario->keepsEvents)
        object.wrong(u"keepsEvents"_s, u"left out: a lesson shows its events"_s);
    run.scenario = *scenario;
    return run;
}

EventPattern readPattern(FieldReader &reader, const contention::Scenario &scenario)
{
    EventPattern pattern;
    if (reader.has("mark")) {
        const auto names = namesOfMarks();
        if (const auto at = names.indexOf(reader.word("mark", names)); at >= 0)
            pattern.mark = static_cast<contention::Mark>(at);
    }
    if (reader.has("contender"))
        pattern.contender = reader.number("contender", 0, scenario.contenders - 1);
    if (reader.has("what"))
        pattern.what = reader.text("what").toUtf8();
    if (reader.has("wasted"))
        pattern.isWasted = reader.flag("wasted");
    if (!pattern.mark && !pattern.contender && !pattern.what && !pattern.isWasted)
        reader.wrong({}, u"an event: by \"mark\", \"contender\", \"what\" or \"wasted\""_s);
    return pattern;
}

std::size_t readRunNumber(FieldReader &reader, const std::vector<LessonRun> &runs)
{
    return static_cast<std::size_t>(reader.number("run", 0, static_cast<int>(runs.size()) - 1, 0));
}

Stop readStop(FieldReader reader, const std::vector<LessonRun> &runs)
{
    Stop stop;
    stop.isEnd = reader.has("end") && reader.flag("end");
    if (!stop.isEnd) {
        stop.run = readRunNumber(reader, runs);
        stop.pattern = readPattern(reader, runs[stop.run].scenario);
        stop.count = reader.number("count", 1, 1'000'000, 1);
    }
    reader.nothingElse();
    return stop;
}

// Words whose numbers the runs know.
Text readTold(FieldReader reader, std::size_t runs, bool hasMoment)
{
    auto text = readText(reader);
    if (const auto wrong = wrongNumberIn(text, runs, hasMoment); !wrong.isEmpty())
        reader.wrong({}, u"without %1, which is not a number of its runs"_s.arg(wrong));
    return text;
}

Question readQuestion(FieldReader reader, std::size_t runs, bool hasMoment)
{
    Question question;
    question.text = readTold(reader.object("text"), runs, hasMoment);
    const auto choices = reader.list("choices", 2, 6);
    for (qsizetype i = 0; i < choices.size(); ++i)
        question.choices.push_back(readTold(reader.element("choices", choices, i), runs, hasMoment));
    question.right = static_cast<std::size_t>(
        reader.number("right", 0, std::max(0, static_cast<int>(question.choices.size()) - 1)));
    question.because = readTold(reader.object("because"), runs, hasMoment);
    reader.nothingElse();
    return question;
}

Step readStep(FieldReader reader, const std::vector<LessonRun> &runs)
{
    Step step;
    if (reader.has("until"))
        step.until = readStop(reader.object("until"), runs);
    step.text = readTold(reader.object("text"), runs.size(), step.until.has_value());
    if (reader.has("question"))
        step.question = readQuestion(reader.object("question"), runs.size(), step.until.has_value());
    const auto claims = reader.has("claims") ? reader.list("claims", 1, 20) : QJsonArray();
    for (qsizetype i = 0; i < claims.size(); ++i) {
        auto claim = reader.element("claims", claims, i);
        step.claims.push_back({claim.text("seed").toUtf8(), claim.text("says")});
        claim.nothingElse();
    }
    if (!step.claims.empty() && !step.until)
        reader.wrong(u"claims"_s, u"of a step that plays: one with \"until\""_s);
    reader.nothingElse();
    return step;
}

// "== 45", "> 2.5", "< run 1", ">= 10 * run 1"; "present", "absent".
void readComparison(FieldReader &reader, std::size_t runs, Proof &proof)
{
    static const QStringList operators{u"=="_s, u"!="_s, u"<"_s, u"<="_s, u">"_s, u">="_s};
    static const QRegularExpression form(
        u"^(==|!=|<=?|>=?) *(?:([0-9]+(?:\\.[0-9]+)?)|(?:([0-9]+(?:\\.[0-9]+)?) *\\* *)?run ([0-9]))$"_s);
    const auto text = reader.text("is");
    if (proof.of == Proof::Of::Violation) {
        if (text != "present"_L1 && text != "absent"_L1)
            reader.wrong(u"is"_s, u"present or absent"_s);
        proof.number = text == "present"_L1 ? 1 : 0;
        return;
    }
    const auto match = form.match(text);
    if (!match.hasMatch()) {
        reader.wrong(u"is"_s, u"like \"== 45\", \"> 2.5\", \"< run 1\" or \">= 10 * run 1\""_s);
        return;
    }
    proof.comparison = static_cast<Proof::Comparison>(operators.indexOf(match.captured(1)));
    if (match.captured(4).isEmpty()) {
        proof.number = match.captured(2).toDouble();
        return;
    }
    proof.number = match.captured(3).isEmpty() ? 1 : match.captured(3).toDouble();
    proof.otherRun = match.captured(4).toULongLong();
    if (*proof.otherRun >= runs)
        reader.wrong(u"is"_s, u"about a run of the lesson: they count from 0"_s);
}

Proof readProof(FieldReader reader, const std::vector<LessonRun> &runs)
{
    Proof proof;
    proof.run = readRunNumber(reader, runs);
    if (reader.has("counter")) {
        proof.name = reader.word("counter", counterNames());
    } else if (reader.has("violation")) {
        proof.of = Proof::Of::Violation;
        proof.name = reader.word("violation", invariantNames());
    } else if (reader.has("events")) {
        proof.of = Proof::Of::Events;
        auto pattern = reader.object("events");
        proof.pattern = readPattern(pattern, runs[proof.run].scenario);
        pattern.nothingElse();
    } else {
        reader.wrong({}, u"about a \"counter\", a \"violation\" or \"events\""_s);
    }
    readComparison(reader, runs.size(), proof);
    proof.text = readTold(reader.object("text"), runs.size(), false);
    reader.nothingElse();
    return proof;
}

void readTiles(FieldReader &reader, Lesson &lesson)
{
    lesson.tiles.clear();
    const auto tiles = reader.list("tiles", 2, 4);
    for (qsizetype i = 0; i < tiles.size(); ++i) {
        const auto field = u"tiles[%1]"_s.arg(i);
        const auto name = tiles[i].toString().toUtf8();
        if (!tileNames().contains(name))
            reader.wrong(field, FieldReader::oneOf(tileNames()));
        else if (lesson.tiles.contains(name))
            reader.wrong(field, u"different from those before it"_s);
        lesson.tiles << name;
    }
}

void readAll(FieldReader &reader, Lesson &lesson)
{
    static const QRegularExpression idForm(u"^[a-z0-9-]{1,60}$"_s);
    if (reader.text("schema") != lessonSchema)
        reader.wrong(u"schema"_s, u"\"%1\""_s.arg(lessonSchema));
    lesson.id = reader.text("id").toUtf8();
    if (!idForm.match(QString::fromUtf8(lesson.id)).hasMatch())
        reader.wrong(u"id"_s, u"of small letters, digits and hyphens"_s);
    if (reader.has("order"))
        lesson.order = reader.number("order", 1, 9999);
    if (reader.has("chapter"))
        lesson.chapter = reader.word("chapter", chapterNames());
    if (reader.has("tiles"))
        readTiles(reader, lesson);
    lesson.title = readText(reader.object("title"));
    lesson.summary = readText(reader.object("summary"));
    const auto runs = reader.list("runs", 1, 3);
    for (qsizetype i = 0; i < runs.size(); ++i)
        lesson.runs.push_back(readRun(reader.element("runs", runs, i)));
    if (lesson.runs.empty())
        return;
    const auto steps = reader.list("steps", 1, 40);
    for (qsizetype i = 0; i < steps.size(); ++i)
        lesson.steps.push_back(readStep(reader.element("steps", steps, i), lesson.runs));
    if (reader.has("titleAfter")) {
        lesson.titleAfter = reader.number("titleAfter", 1, static_cast<int>(lesson.steps.size()));
        if (!lesson.steps.empty()
            && !lesson.steps[static_cast<std::size_t>(std::max(1, lesson.titleAfter)) - 1].question)
            reader.wrong(u"titleAfter"_s, u"the number of a step with a question"_s);
    }
    const auto proves = reader.list("proves", 1, 20);
    for (qsizetype i = 0; i < proves.size(); ++i)
        lesson.proves.push_back(readProof(reader.element("proves", proves, i), lesson.runs));
    reader.nothingElse();
}

// Of a lesson that is built in.
Result<QByteArray> ownBytes(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorCode::BadInput, file.errorString()};
    return file.readAll();
}

Result<Lesson> readFile(const QString &path)
{
    const auto bad = [&path](const QString &why) {
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(label(path.toUtf8(), 300), why)};
    };
    const auto bytes = path.startsWith(u':') ? ownBytes(path) : readRegularFile(path, largestFile + 1);
    if (!bytes)
        return bad(bytes.error().message);
    if (bytes->size() > largestFile)
        return bad(u"it is larger than the limit of a lesson (1 MiB)"_s);
    return readLesson(*bytes, path);
}

} // namespace

Result<Lesson> readLesson(const QByteArray &bytes, const QString &file)
{
    const auto bad = [&file](const QString &why) {
        return Error{ErrorCode::BadInput, u"%1: %2"_s.arg(label(file.toUtf8(), 300), why)};
    };
    QJsonParseError parsing;
    const auto document = QJsonDocument::fromJson(bytes, &parsing);
    if (parsing.error != QJsonParseError::NoError) {
        const auto line = bytes.left(parsing.offset).count('\n') + 1;
        return bad(u"line %1 is not valid JSON: %2"_s.arg(line).arg(parsing.errorString()));
    }
    if (!document.isObject())
        return bad(u"a lesson is an object: { … }"_s);
    std::optional<Error> error;
    FieldReader reader(document.object(), {}, error);
    Lesson lesson;
    readAll(reader, lesson);
    if (error)
        return bad(error->message);
    return lesson;
}

namespace {

// The first lesson that it names and that is not there.
QByteArray nameOthers(Lesson &lesson, const std::map<QByteArray, int> &numbers)
{
    QByteArray missing;
    const auto inOne = [&](QString &words) {
        for (const auto &match : lessonBraces().globalMatch(QString(words))) {
            const auto at = numbers.find(match.captured(1).toUtf8());
            if (at == numbers.end())
                missing = match.captured(1).toUtf8();
            else
                words.replace(match.captured(0), QString::number(at->second));
        }
    };
    visitTexts(lesson, [&](Text &text, const Step *) {
        for (auto *words : {&text.english, &text.chinese, &text.russian})
            inOne(*words);
    });
    return missing;
}

// What a user may call a lesson whose file is refused.
QByteArrayList namesOf(const QString &path)
{
    QByteArrayList names{QFileInfo(path).completeBaseName().toUtf8()};
    const auto bytes = readRegularFile(path, largestFile);
    const auto id = bytes ? QJsonDocument::fromJson(*bytes)[u"id"_s].toString() : QString();
    if (!id.isEmpty())
        names << id.toUtf8();
    return names;
}

void nameEachOther(Lessons &all)
{
    std::map<QByteArray, int> numbers;
    for (std::size_t i = 0; i < all.lessons.size(); ++i)
        numbers[all.lessons[i].id] = static_cast<int>(i) + 1;
    for (auto &lesson : all.lessons) {
        if (const auto missing = nameOthers(lesson, numbers); !missing.isEmpty())
            all.refused.push_back(
                {Error{ErrorCode::BadInput, u"the lesson \"%1\" names a lesson \"%2\", which does not exist"_s.arg(
                                                QString::fromUtf8(lesson.id), label(missing, 60))},
                 {lesson.id}});
    }
}

} // namespace

Lessons loadLessons(const QStringList &folders)
{
    Lessons all;
    std::set<QByteArray> ids;
    for (const auto &folder : folders) {
        const QDir directory(folder);
        const auto first = static_cast<std::ptrdiff_t>(all.lessons.size());
        for (const auto &name : directory.entryList({u"*.json"_s}, QDir::Files | QDir::System, QDir::Name)) {
            auto lesson = readFile(directory.filePath(name));
            if (lesson && !ids.insert(lesson->id).second)
                lesson = Error{ErrorCode::BadInput,
                               u"%1: a lesson \"%2\" already exists"_s.arg(
                                   label(directory.filePath(name).toUtf8(), 300), QString::fromUtf8(lesson->id))};
            if (lesson)
                all.lessons.push_back(*std::move(lesson));
            else
                all.refused.push_back({lesson.error(), namesOf(directory.filePath(name))});
        }
        std::ranges::stable_sort(all.lessons.begin() + first, all.lessons.end(), {}, [](const Lesson &lesson) {
            return lesson.order > 0 ? lesson.order : std::numeric_limits<int>::max();
        });
    }
    nameEachOther(all);
    return all;
}

QStringList lessonFolders()
{
    return {resourcePath(u"lessons"_s),
            QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + u"/lockscope/lessons"_s};
}

} // namespace lockscope::lessons
