// SPDX-License-Identifier: Apache-2.0
// What lessons say in each language beside their own texts (resources/words/lessons.json): the words of their page,
// the course's chapters, the counters' names (in English as a lesson's file has them), and what a proof measured, as
// a person says it: with its unit, and a violation by what it is and how often. "Absent", or "never", beside "one at
// a time" would say the opposite.
#include "core/lessons/lessons.h"
#include "core/base/text.h"

#include "core/base/fieldreader.h"

#include <cmath>

namespace lockscope::lessons {

namespace {

struct Word {
    QByteArray kind, name;
    Text text;
};

const std::vector<Word> &words()
{
    static const auto all = [] {
        std::vector<Word> read;
        readResourceList(u"words/lessons.json"_s, "words", [&read](FieldReader &reader) {
            read.push_back({reader.word("kind", {"chapter", "counter", "page", "unit", "unit-of-one", "violation"}),
                            reader.text("name").toUtf8(), readText(reader.object("text"))});
        });
        return read;
    }();
    return all;
}

// Null if there is none.
const Text *wordOf(const char *kind, const QByteArray &name)
{
    const auto found =
        std::ranges::find_if(words(), [&](const Word &word) { return word.kind == kind && word.name == name; });
    return found == words().end() ? nullptr : &found->text;
}

QString formatNumber(double number, Language language)
{
    return number == std::floor(number) ? formatCount(qint64(number), language)
                                        : localeOf(language).toString(number, 'f', 2);
}

// 2, 3, 4 раза, and so 22, but not 12; else раз.
QString russianTimes(qint64 count)
{
    const auto last = count % 10, tens = count / 10 % 10;
    return last >= 2 && last <= 4 && tens != 1 ? u"%1 раза"_s : u"%1 раз"_s;
}

QString formatTimes(qint64 count, Language language)
{
    const auto digits = formatCount(count, language);
    switch (language) {
    case Language::Chinese: return count == 0 ? u"从未"_s : u"%1 次"_s.arg(digits);
    case Language::Russian: return count == 0 ? u"ни разу"_s : russianTimes(count).arg(digits);
    case Language::English: break;
    }
    return count == 0 ? u"never"_s : count == 1 ? u"once"_s : u"%1 times"_s.arg(digits);
}

} // namespace

const QList<QByteArray> &chapterNames()
{
    static const auto names = [] {
        QList<QByteArray> all;
        for (const auto &word : words()) {
            if (word.kind == "chapter" && word.name != "more")
                all << word.name;
        }
        return all;
    }();
    return names;
}

Text chapterTitle(const QByteArray &name)
{
    const auto *title = wordOf("chapter", name);
    return title ? *title : *wordOf("chapter", "more");
}

const QString &pageWord(const QByteArray &name, Language language)
{
    return wordOf("page", name)->in(language);
}

const QList<QByteArray> &tileNames()
{
    static const QList<QByteArray> names{"requests",         "watchEvents",    "wastedWakeups", "waitP99Ms",
                                         "allRequests",      "allWatchEvents", "grants",        "gaveUp",
                                         "longestOverlapMs", "violations"};
    return names;
}

const QList<QByteArray> &standardTiles()
{
    static const QList<QByteArray> names{"requests", "watchEvents", "wastedWakeups", "waitP99Ms"};
    return names;
}

QString counterTitle(const QByteArray &name, Language language)
{
    const auto *title = wordOf("counter", name);
    return title ? title->in(language) : QString::fromLatin1(name);
}

QString formatMeasure(const Proof &proof, double measured, std::optional<double> other, Language language)
{
    if (proof.of != Proof::Of::Counter) {
        auto said = formatTimes(qint64(measured), language);
        if (other)
            said += u" / "_s + formatTimes(qint64(*other), language);
        const auto *broken = wordOf("violation", proof.name);
        if (!broken)
            return said;
        if (said == u"once"_s)
            said = u"1 time"_s; // "two at once: once"
        return broken->in(language).arg(said);
    }
    const bool isTime = proof.name.endsWith("Ms");
    const auto said = [&](double number) {
        return isTime ? formatMeasuredMs(number, language) : formatNumber(number, language);
    };
    const QString digits = said(measured) + (other ? u" / "_s + said(*other) : QString());
    const bool isOne = language == Language::English && !other && measured == 1;
    const auto *unit = wordOf(isOne ? "unit-of-one" : "unit", proof.name);
    return unit ? unit->in(language).arg(digits) : digits;
}

// A lesson as a page for those who were not there, or want to read it again: Markdown.

namespace {

// Whoever wrote the lesson wrote words, not Markdown.
QString plain(const Text &text, Language language)
{
    constexpr int most = 4000;
    QString words = harmless(text.in(language), most);
    for (const auto sign : u"\\`*_[]<>#|"_s)
        words.replace(sign, u'\\' + QString(sign));
    return words;
}

const Text playedForm{u"- %1: `%2`, contenders: %3, seed %4"_s, u"- %1：`%2`，竞争者 %3 个，种子 %4"_s,
                      u"- %1: `%2`, участников: %3, зерно %4"_s};

} // namespace

QString claimsTable(const std::vector<Lesson> &lessons)
{
    std::map<QByteArray, QStringList> rows;
    for (std::size_t number = 0; number < lessons.size(); ++number) {
        const auto &lesson = lessons[number];
        for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
            for (const auto &claim : lesson.steps[step].claims)
                rows[claim.seed] << u"| %1 | %2 | %3 %4 | %5 |"_s.arg(
                    QString::fromUtf8(claim.seed), claim.says, QString::number(number + 1),
                    QString::fromLatin1(lesson.id), QString::number(step + 1));
        }
    }
    QStringList lines{u"| page | claim | lesson | step |"_s, u"|---|---|---|---|"_s};
    for (const auto &[seed, ofSeed] : rows)
        lines += ofSeed;
    return lines.join(u'\n') + u'\n';
}

QString handout(const Lesson &lesson, const PlayedRuns &runs, Language language, const QStringList &pictures,
                bool hasAnswers)
{
    QStringList lines{u"# "_s + plain(lesson.title, language), {}, plain(lesson.summary, language), {}};
    for (std::size_t i = 0; i < lesson.runs.size(); ++i) {
        const auto &scenario = lesson.runs[i].scenario;
        lines << playedForm.in(language).arg(
            plain(lesson.runs[i].title, language), QString::fromLatin1(scenario.recipe),
            formatCount(scenario.contenders, language), QString::number(scenario.seed));
    }
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const auto &step = lesson.steps[i];
        const auto at = step.until ? momentOf(*step.until, runs) : std::nullopt;
        lines << QString()
              << u"## %1%2"_s.arg(i + 1).arg(at ? u" · "_s + formatMs(contention::inMs(*at), language) : QString())
              << QString() << plain(step.text, language);
        if (static_cast<qsizetype>(i) < pictures.size() && !pictures[static_cast<qsizetype>(i)].isEmpty())
            lines << QString() << u"![%1](<%2>)"_s.arg(i + 1).arg(pictures[static_cast<qsizetype>(i)]);
        if (!step.question)
            continue;
        lines << QString() << u"**%1**"_s.arg(plain(step.question->text, language)) << QString();
        for (std::size_t choice = 0; choice < step.question->choices.size(); ++choice)
            lines << u"%1. %2%3"_s.arg(choice + 1)
                         .arg(plain(step.question->choices[choice], language),
                              hasAnswers && choice == step.question->right ? u" ✓"_s : QString());
        if (hasAnswers)
            lines << QString() << plain(step.question->because, language);
    }
    if (!hasAnswers)
        return lines.join(u'\n') + u'\n';
    lines << QString() << u"## ✓"_s << QString();
    for (const auto &proof : lesson.proves) {
        const auto proven = prove(proof, runs, language);
        lines << u"- %1 %2 (%3)"_s.arg(proven.holds ? u"✓"_s : u"✗"_s, plain(proof.text, language), proven.spoken);
    }
    return lines.join(u'\n') + u'\n';
}

} // namespace lockscope::lessons
