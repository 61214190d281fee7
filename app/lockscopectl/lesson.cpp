// SPDX-License-Identifier: Apache-2.0
// lesson: the lessons for those without a window: the story with the moments it stops at, and the counters that prove
// its point, of runs played for this answer.
#include "app/lockscopectl/output.h"
#include "app/lockscopectl/simulated.h"
#include "core/base/text.h"
#include "core/lessons/lessons.h"

namespace lockscope::ctl {

using contention::Recording;
using lessons::Language;
using lessons::Lesson;

namespace {

Error badLesson(const QString &what)
{
    return Error{ErrorCode::BadInput, u"lesson: "_s + what};
}

// Whoever wrote the file may have written anything.
QString told(const lessons::Text &text, Language language)
{
    constexpr int most = 4000;
    return harmless(text.in(language), most);
}

struct Played {
    std::vector<Recording> recordings;
    [[nodiscard]] lessons::PlayedRuns runs() const
    {
        lessons::PlayedRuns all;
        for (const auto &recording : recordings)
            all.push_back(&recording);
        return all;
    }
};

// By its number in the list, or by its id.
const Lesson *findLesson(const lessons::Lessons &all, const QString &word)
{
    bool isNumber = false;
    const auto number = word.toUInt(&isNumber);
    if (isNumber)
        return number >= 1 && number <= all.lessons.size() ? &all.lessons[number - 1] : nullptr;
    const auto at = std::ranges::find(all.lessons, word.toUtf8(), &Lesson::id);
    return at == all.lessons.end() ? nullptr : &*at;
}

// Why there is none: its file may have a mistake.
Error noLesson(const lessons::Lessons &all, const QByteArray &word)
{
    for (const auto &refused : all.refused) {
        if (refused.names.contains(word))
            return badLesson(refused.message);
    }
    return badLesson(u"unknown lesson \"%1\"; run \"lockscopectl lesson\" to list lessons"_s.arg(label(word, 60)));
}

void listLessons(const CommandContext &context, const lessons::Lessons &all, Language language)
{
    QJsonArray array;
    Table table(
        {{u"N"_s, Table::Align::Right}, {u"LESSON"_s}, {u"WHAT IT SHOWS"_s, Table::Align::Left, false, true}});
    QString above;
    for (std::size_t i = 0; i < all.lessons.size(); ++i) {
        const auto &lesson = all.lessons[i];
        const auto chapter = told(lessons::chapterTitle(lesson.chapter), language);
        if (chapter != above)
            table.addHeading(chapter);
        above = chapter;
        table.add({QString::number(i + 1), told(lesson.title, language), told(lesson.summary, language)});
        array.append(QJsonObject{{u"number"_s, static_cast<int>(i + 1)},
                                 {u"id"_s, escaped(lesson.id)},
                                 {u"chapter"_s, QString::fromLatin1(lesson.chapter)},
                                 {u"title"_s, told(lesson.title, language)},
                                 {u"summary"_s, told(lesson.summary, language)}});
    }
    for (const auto &refused : all.refused)
        printError(refused.message);
    if (context.json)
        printJson(QJsonObject{{u"lessons"_s, array}});
    else
        print(table.text(terminalWidth()) + u"\n\nlockscopectl lesson N plays one of them."_s);
}

QJsonObject countersJson(const Recording &run)
{
    QJsonObject all = run.toJson();
    for (const auto *heavy : {"events", "scenario"})
        all.remove(QString::fromLatin1(heavy));
    return all;
}

const lessons::Text counterHead{u"COUNTER"_s, u"计数"_s, u"СЧЁТЧИК"_s};

void printCounters(const Lesson &lesson, const Played &played, Language language)
{
    std::vector<Table::Column> columns{{counterHead.in(language)}};
    for (std::size_t i = 0; i < played.recordings.size(); ++i)
        columns.push_back({told(lesson.runs[i].title, language), Table::Align::Right});
    Table table(columns);
    for (const auto &name : lessons::counterNames()) {
        QStringList row{lessons::counterTitle(name, language)};
        for (const auto &recording : played.recordings)
            row << lessons::counterText(name, recording, language);
        table.add(row);
    }
    print(table.text(terminalWidth()));
}

void printStep(const lessons::Step &step, std::size_t number, const lessons::PlayedRuns &runs, Language language)
{
    const auto at = step.until ? momentOf(*step.until, runs) : std::nullopt;
    print(u"%1. %2"_s.arg(number).arg(told(step.text, language)));
    if (step.question) {
        const auto &question = *step.question;
        print(u"   ? "_s + told(question.text, language));
        for (std::size_t i = 0; i < question.choices.size(); ++i)
            print(u"     %1 %2"_s.arg(i == question.right ? u"→"_s : u"·"_s, told(question.choices[i], language)));
        print(u"     "_s + told(question.because, language));
    }
    if (at)
        print(u"   [%1]"_s.arg(lessons::formatMs(contention::inMs(*at), language)));
}

void printLesson(const Lesson &lesson, const Played &played, Language language)
{
    const auto runs = played.runs();
    print(told(lesson.title, language) + u"\n"_s + told(lesson.summary, language) + u'\n');
    for (std::size_t i = 0; i < lesson.steps.size(); ++i)
        printStep(lesson.steps[i], i + 1, runs, language);
    print({});
    printCounters(lesson, played, language);
    print({});
    for (const auto &proof : lesson.proves) {
        const auto proven = prove(proof, runs, language);
        print(u"%1 %2 (%3)"_s.arg(proven.holds ? u"✓"_s : u"✗"_s, told(proof.text, language), proven.spoken));
    }
}

QJsonObject lessonJson(const Lesson &lesson, const Played &played, Language language)
{
    const auto recordings = played.runs();
    QJsonArray runs;
    for (std::size_t i = 0; i < played.recordings.size(); ++i)
        runs.append(QJsonObject{{u"title"_s, told(lesson.runs[i].title, language)},
                                {u"scenario"_s, lesson.runs[i].scenario.toJson()},
                                {u"counters"_s, countersJson(played.recordings[i])}});
    QJsonArray steps;
    for (const auto &step : lesson.steps) {
        QJsonObject one{{u"text"_s, told(step.text, language)}};
        if (const auto at = step.until ? momentOf(*step.until, recordings) : std::nullopt)
            one.insert(u"atMs"_s, contention::inMs(*at));
        if (step.question) {
            const auto choices = mapped<QJsonArray>(step.question->choices,
                                                    [&](const auto &choice) { return told(choice, language); });
            one.insert(u"question"_s, QJsonObject{{u"text"_s, told(step.question->text, language)},
                                                  {u"choices"_s, choices},
                                                  {u"right"_s, static_cast<int>(step.question->right)},
                                                  {u"because"_s, told(step.question->because, language)}});
        }
        steps.append(one);
    }
    QJsonArray proves;
    for (const auto &proof : lesson.proves) {
        const auto proven = prove(proof, recordings);
        proves.append(QJsonObject{
            {u"text"_s, told(proof.text, language)}, {u"measured"_s, proven.measured}, {u"holds"_s, proven.holds}});
    }
    return {{u"id"_s, escaped(lesson.id)},
            {u"title"_s, told(lesson.title, language)},
            {u"runs"_s, runs},
            {u"steps"_s, steps},
            {u"proves"_s, proves}};
}

} // namespace

// Failed: a proof does not hold, so the lesson says what is not so.
Task<Result<Exit>> runLesson(CommandContext &context)
{
    const auto code = context.arguments.value(u"language"_s, u"en"_s);
    const auto language = lessons::languageByName(code == "zh"_L1 ? "zh_CN" : code.toUtf8());
    if (!language)
        co_return fail(badLesson(u"--language is en, zh_CN or ru"_s));
    const auto all = lessons::loadLessons(lessons::lessonFolders());
    if (context.word(0).isEmpty()) {
        listLessons(context, all, *language);
        co_return Exit::Done;
    }
    const auto *lesson = findLesson(all, context.word(0));
    if (!lesson)
        co_return fail(noLesson(all, context.word(0).toUtf8()));
    Played played;
    for (const auto &run : lesson->runs) {
        const auto scenario = run.scenario;
        CO_TRY(auto &recording, co_await playSimulated(context, scenario));
        played.recordings.push_back(std::move(recording));
    }
    const auto runs = played.runs();
    const auto counted = lessons::withNumbers(*lesson, runs);
    if (context.json)
        printJson(QJsonObject{{u"lesson"_s, lessonJson(counted, played, *language)}});
    else
        printLesson(counted, played, *language);
    const bool isProven =
        std::ranges::all_of(lesson->proves, [&](const lessons::Proof &proof) { return prove(proof, runs).holds; });
    co_return isProven ? Exit::Done : Exit::Failed;
}

} // namespace lockscope::ctl
