// SPDX-License-Identifier: Apache-2.0
// Lessons: short stories on one to three recorded runs, each a file of text, scenarios and the numbers that prove
// the point. Whoever writes another needs no C++: resources/lessons/README.md says what a file contains.
#pragma once

#include "core/contention/recording.h"

#include <QStringList>

#include <functional>

class QLocale;
class QRegularExpression;

namespace lockscope {
class FieldReader;
}

namespace lockscope::lessons {

enum class Language { English, Chinese, Russian };
[[nodiscard]] QByteArray nameOf(Language language); // "en", "zh_CN", "ru"
[[nodiscard]] std::optional<Language> languageByName(const QByteArray &name);

// The same in each language.
struct Text {
    QString english, chinese, russian;
    // In English where it is missing, and else in whatever language there is.
    [[nodiscard]] const QString &in(Language language) const;
};

// From an object with a text in one language at least.
[[nodiscard]] Text readText(FieldReader reader);

// Which events are meant; what is not said may be anything.
struct EventPattern {
    std::optional<contention::Mark> mark;
    std::optional<int> contender;
    std::optional<QByteArray> what;
    std::optional<bool> isWasted;
    [[nodiscard]] bool matches(const contention::Event &event) const;
};

// Where the picture stops: at the `count`th such event of a run.
struct Stop {
    std::size_t run = 0;
    EventPattern pattern;
    int count = 1;
    bool isEnd = false; // of all runs, instead
};
// A lesson's runs, played: as many as it has. Not null.
using PlayedRuns = std::vector<const contention::Recording *>;
// The moment it stops at; none when the run never comes there.
[[nodiscard]] std::optional<contention::Moment> momentOf(const Stop &stop, const PlayedRuns &runs);

// To be answered before the picture goes on.
struct Question {
    Text text;
    std::vector<Text> choices;
    std::size_t right = 0;
    Text because;
};

// What somebody wrote about locks, and a step plays: the page, by its number, and its claim in a sentence.
struct Claim {
    QByteArray seed;
    QString says;
};

struct Step {
    Text text;
    std::vector<Claim> claims;
    std::optional<Question> question;
    std::optional<Stop> until; // none: the picture stays where it is
};

struct LessonRun {
    Text title;
    contention::Scenario scenario;
};

// What has to be true at the end, and the sentence that says so.
struct Proof {
    enum class Of { Counter, Violation, Events };
    enum class Comparison { Equal, Unequal, Less, AtMost, More, AtLeast };

    std::size_t run = 0;
    Of of = Of::Counter;
    QByteArray name;      // of the counter or the invariant
    EventPattern pattern; // how many of these there were
    Comparison comparison = Comparison::Equal;
    double number = 0;                   // a violation: 1 present, 0 absent
    std::optional<std::size_t> otherRun; // compared with `number` times what that run says
    Text text;
};
struct Proven {
    bool holds = false;
    QString measured; // "45", "present"
    QString spoken;   // as a person says it, with its unit: "1.21 s", "45 wake-ups", "two at once: never"
};
[[nodiscard]] Proven prove(const Proof &proof, const PlayedRuns &runs, Language language = Language::English);
// The counters a proof can name.
[[nodiscard]] const QList<QByteArray> &counterNames();
// As a person says it, in that language; in English it is the name.
[[nodiscard]] QString counterTitle(const QByteArray &name, Language language);
// One of these, of a run.
[[nodiscard]] double counterOf(const QByteArray &name, const contention::Recording &run);
// As it is shown in that language: "45", "0.5"; "–" where there was nothing to count.
[[nodiscard]] QString counterText(const QByteArray &name, const contention::Recording &run, Language language);

// The parts of the course, in their order, and what a list has above the first lesson of one; above those of none:
// "More lessons".
[[nodiscard]] const QList<QByteArray> &chapterNames();
[[nodiscard]] Text chapterTitle(const QByteArray &name);
// A word of the page of lessons itself ("next", "saved" with %1), by its name in resources/words/lessons.json.
[[nodiscard]] const QString &pageWord(const QByteArray &name, Language language);
// What the tiles below a run can show, at the cursor: counters, and "violations": how often what must hold broke.
[[nodiscard]] const QList<QByteArray> &tileNames();
[[nodiscard]] const QList<QByteArray> &standardTiles(); // of a lesson that chooses none

struct Lesson {
    QByteArray id;
    int order = 0;                             // its place in the course; 0: none, after all that have one
    QByteArray chapter;                        // of chapterNames(); empty: of none
    QList<QByteArray> tiles = standardTiles(); // what is counted below each run: two to four of tileNames()
    int titleAfter = 0; // the step, from 1, up to whose answer the runs' titles are letters; 0: none
    Text title, summary;
    std::vector<LessonRun> runs; // one to three, side by side
    std::vector<Step> steps;
    std::vector<Proof> proves;
};

// Where the picture stops at that step, counted from 0, or at the last one before it that says; after all steps: at
// the end of `runs`. -1: before everything.
[[nodiscard]] contention::Moment momentOfStep(const Lesson &lesson, std::size_t step, const PlayedRuns &runs);

// As they are said in a language: "4,747", "4747"; "1.21 s", "1,21 с".
[[nodiscard]] QLocale localeOf(Language language);
[[nodiscard]] QString formatCount(qint64 count, Language language);
[[nodiscard]] QString formatMs(double ms, Language language);
// What was counted, to the digit of the tiles: "2.00 s", "499.8 ms".
[[nodiscard]] QString formatMeasuredMs(double ms, Language language);

// What was measured for a proof, and where it is compared with another run, there.
[[nodiscard]] QString formatMeasure(const Proof &proof, double measured, std::optional<double> other,
                                    Language language);

// Calls `visit` for each text of its steps and of what it proves that numbers may stand in.
void visitTexts(Lesson &lesson, const std::function<void(Text &text, const Step *step)> &visit);
// The numbers that its texts leave to the runs ("{watchEvents}"), as these runs counted them, in each language's way.
[[nodiscard]] Lesson withNumbers(Lesson lesson, const PlayedRuns &runs);
// "{lesson redlock}", and the id in it.
[[nodiscard]] const QRegularExpression &lessonBraces();
// The first pair of braces that names no number of so many runs; empty when there is none. Where the picture stops
// somewhere there are also its moment and what happened so far.
[[nodiscard]] QString wrongNumberIn(const Text &text, std::size_t runs, bool hasMoment);

// Which claim is played where, as a table in Markdown: by page, in the order of the lessons.
[[nodiscard]] QString claimsTable(const std::vector<Lesson> &lessons);
// As a page to hand out, in Markdown; `pictures`: of each step a file beside it, or an empty name. Without answers
// there are the questions alone, and nothing is proved.
[[nodiscard]] QString handout(const Lesson &lesson, const PlayedRuns &runs, Language language,
                              const QStringList &pictures = {}, bool hasAnswers = true);

// BadInput names the file and the field, and what it has to be. Anybody may have written it.
[[nodiscard]] Result<Lesson> readLesson(const QByteArray &bytes, const QString &file);

struct RefusedLesson : Error {
    QByteArrayList names; // the file's, without its suffix, and the id in it
};

struct Lessons {
    std::vector<Lesson> lessons;
    std::vector<RefusedLesson> refused; // one for each file that is none
};
// Every *.json of these folders: those of each folder in their order as a course, then in that of their names;
// folders that are not there have none. "{lesson ID}" in their texts is that lesson's number.
[[nodiscard]] Lessons loadLessons(const QStringList &folders);
// Those that came with the program, and the user's own: lockscope/lessons where the system keeps a user's data.
[[nodiscard]] QStringList lessonFolders();

} // namespace lockscope::lessons
