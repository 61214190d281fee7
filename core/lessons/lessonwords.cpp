// SPDX-License-Identifier: Apache-2.0
// What lessons say in each language beside their own texts (resources/words/lessons.json): the words of their page,
// the course's chapters, the counters' names (in English as a lesson's file has them), and what a proof measured, as
// a person says it: with its unit, and a violation by what it is and how often. "Absent", or "never", beside "one at
// a time" would say the opposite.
#include "core/lessons/lessons.h"

#include "core/base/fieldreader.h"

#include <QLocale>

#include <algorithm>
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

} // namespace lockscope::lessons
