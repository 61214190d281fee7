// SPDX-License-Identifier: Apache-2.0
// A lesson as a page for those who were not there, or want to read it again: Markdown.
#include "core/lessons/lessons.h"

#include "core/base/text.h"

#include <map>

namespace lockscope::lessons {

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
