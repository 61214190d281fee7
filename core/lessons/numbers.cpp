// SPDX-License-Identifier: Apache-2.0
// The numbers in a lesson's texts: "{watchEvents}", "{request create so far}", "{ttlMs of run 1}", "{token c00}",
// "{at}". They are counted in the runs that were played, so that no sentence says another number than the counters
// beside it.
#include "core/lessons/lessons.h"

#include "core/base/text.h"

#include <QRegularExpression>

#include <cmath>

namespace lockscope::lessons {

namespace {

const QRegularExpression &braces()
{
    static const QRegularExpression form(u"\\{([^{}]*)\\}"_s);
    return form;
}

// What stands between two braces.
struct Number {
    std::size_t run = 0;
    bool isMoment = false;     // "at": where the step stops
    bool isSoFar = false;      // of events: those up to there
    bool isDrain = false;      // and those from the first release on
    std::optional<int> holder; // whose first token
    QByteArray name;           // of a counter, or of a scenario's field
    int less = 0;              // "{contenders - 1}": all but one
    EventPattern pattern{};    // of events, where there is no name
};

struct NamedSetting {
    const char *name;
    double (*read)(const contention::Scenario &scenario);
};
constexpr NamedSetting settings[] = {
    {"contenders", [](const contention::Scenario &scenario) { return double(scenario.contenders); }},
    {"rounds", [](const contention::Scenario &scenario) { return double(scenario.rounds); }},
    {"holdMs", [](const contention::Scenario &scenario) { return double(scenario.hold.count()); }},
    {"ttlMs", [](const contention::Scenario &scenario) { return double(scenario.ttl.count()); }},
    {"sessionTimeoutMs",
     [](const contention::Scenario &scenario) { return double(scenario.sessionTimeout.count()); }},
    {"waitMs",
     [](const contention::Scenario &scenario) {
         return double(scenario.wait.value_or(std::chrono::milliseconds(0)).count());
     }},
};

const NamedSetting *settingOf(const QByteArray &name)
{
    const auto *at =
        std::ranges::find_if(settings, [&](const NamedSetting &setting) { return name == setting.name; });
    return at == std::end(settings) ? nullptr : at;
}

std::optional<EventPattern> patternOf(QStringList words)
{
    for (int i = 0; i < contention::markCount; ++i) {
        const auto mark = static_cast<contention::Mark>(i);
        if (words.isEmpty() || words.front().toUtf8() != nameOf(mark))
            continue;
        words.removeFirst();
        EventPattern pattern;
        pattern.mark = mark;
        if (words.removeAll(u"wasted"_s) > 0)
            pattern.isWasted = true;
        if (words.size() > 1)
            return std::nullopt;
        if (!words.isEmpty())
            pattern.what = words.front().toUtf8();
        return pattern;
    }
    return std::nullopt;
}

std::optional<Number> numberOf(const QString &inside)
{
    static const QRegularExpression form(
        u"^(.+?)(?: - ([1-9][0-9]?))?( in the drain)?( so far)?(?: of run ([0-9]))?$"_s);
    const auto match = form.match(inside);
    if (!match.hasMatch())
        return std::nullopt;
    Number number;
    number.less = match.captured(2).toInt();
    number.isDrain = !match.captured(3).isEmpty();
    number.isSoFar = !match.captured(4).isEmpty();
    const bool isOfAll = !number.isDrain && !number.isSoFar;
    number.run = match.captured(5).toULongLong();
    const auto name = match.captured(1).toUtf8();
    if (name == "at") {
        number.isMoment = true;
        return number.less == 0 ? std::optional(number) : std::nullopt;
    }
    static const QRegularExpression token(u"^token c([0-9]{1,4})$"_s);
    if (const auto whose = token.match(match.captured(1)); whose.hasMatch()) {
        number.holder = whose.captured(1).toInt();
        return isOfAll && number.less == 0 ? std::optional(number) : std::nullopt;
    }
    if (counterNames().contains(name) || settingOf(name)) {
        number.name = name;
        // A counter says its scope by its name, and fewer than a time is none.
        const bool isFine = isOfAll && (number.less == 0 || !name.endsWith("Ms"));
        return isFine ? std::optional(number) : std::nullopt;
    }
    const auto pattern = patternOf(match.captured(1).split(u' '));
    if (!pattern)
        return std::nullopt;
    number.pattern = *pattern;
    return number;
}

qint64 countOf(const Number &number, const contention::Recording &run, std::optional<contention::Moment> at)
{
    const auto isRelease = [](const contention::Event &event) { return event.mark == contention::Mark::Releases; };
    const auto first = number.isDrain ? std::ranges::find_if(run.events, isRelease) : run.events.begin();
    return std::count_if(first, run.events.end(), [&](const contention::Event &event) {
        const bool isInTime = !number.isSoFar || (at && event.at <= *at);
        return isInTime && number.pattern.matches(event);
    });
}

// After a space that no line ends at.
QString withUnit(const QString &digits, bool isSeconds, Language language)
{
    static const QString units[][2] = {{u"ms"_s, u"s"_s}, {u"毫秒"_s, u"秒"_s}, {u"мс"_s, u"с"_s}};
    return digits + QChar::Nbsp + units[static_cast<std::size_t>(language)][isSeconds ? 1 : 0];
}

QString spoken(const Number &number, const PlayedRuns &runs, std::optional<contention::Moment> at, Language language)
{
    if (number.isMoment)
        return formatMs(contention::inMs(at.value_or(contention::Moment{})), language);
    const auto &run = *runs[number.run];
    if (number.holder) {
        const auto held = std::ranges::find_if(run.events, [&](const contention::Event &event) {
            return event.mark == contention::Mark::Holds && event.contender == *number.holder;
        });
        return held == run.events.end() ? u"–"_s : formatCount(held->token, language);
    }
    if (number.name.isEmpty())
        return formatCount(countOf(number, run, at) - number.less, language);
    const auto *setting = settingOf(number.name);
    const double value = (setting ? setting->read(run.scenario) : counterOf(number.name, run)) - number.less;
    if (number.name.endsWith("Ms"))
        return setting ? formatMs(value, language) : formatMeasuredMs(value, language);
    return value == std::floor(value) ? formatCount(qint64(value), language)
                                      : localeOf(language).toString(value, 'f', 2);
}

void fillIn(Text &text, const PlayedRuns &runs, std::optional<contention::Moment> at)
{
    const auto inOne = [&](QString &words, Language language) {
        qsizetype from = 0;
        for (auto match = braces().match(words); match.hasMatch(); match = braces().match(words, from)) {
            const auto number = numberOf(match.captured(1));
            const auto said = number && number->run < runs.size() ? spoken(*number, runs, at, language) : QString();
            words.replace(match.capturedStart(), match.capturedLength(), said);
            from = match.capturedStart() + said.size();
        }
    };
    inOne(text.english, Language::English);
    inOne(text.chinese, Language::Chinese);
    inOne(text.russian, Language::Russian);
}

} // namespace

const QRegularExpression &lessonBraces()
{
    static const QRegularExpression form(u"\\{lesson ([a-z0-9-]{1,60})\\}"_s);
    return form;
}

QLocale localeOf(Language language)
{
    static const QLocale locales[] = {{QLocale::English, QLocale::UnitedStates},
                                      {QLocale::Chinese, QLocale::China},
                                      {QLocale::Russian, QLocale::Russia}};
    return locales[static_cast<std::size_t>(language)];
}

// English groups from a thousand on, the others only what is longer.
QString formatCount(qint64 count, Language language)
{
    auto locale = localeOf(language);
    if (language != Language::English && count < 10'000)
        locale.setNumberOptions(QLocale::OmitGroupSeparator);
    return locale.toString(count);
}

QString formatMs(double ms, Language language)
{
    const bool isLong = ms >= 1000;
    const double shown = isLong ? ms / 1000 : ms;
    QString digits = localeOf(language).toString(shown, 'f', isLong ? 2 : shown < 10 ? 1 : 0);
    static const QRegularExpression zeros(u"[.,]0*$|([.,][0-9]*[1-9])0+$"_s);
    digits.replace(zeros, u"\\1"_s);
    return withUnit(digits, isLong, language);
}

QString formatMeasuredMs(double ms, Language language)
{
    const bool isLong = ms >= 1000;
    return withUnit(localeOf(language).toString(isLong ? ms / 1000 : ms, 'f', isLong ? 2 : 1), isLong, language);
}

QString wrongNumberIn(const Text &text, std::size_t runs, bool hasMoment)
{
    for (const auto *words : {&text.english, &text.chinese, &text.russian}) {
        for (const auto &match : braces().globalMatch(*words)) {
            if (lessonBraces().match(match.captured(0)).hasMatch())
                continue; // another lesson's number: known once all are read
            const auto number = numberOf(match.captured(1));
            const bool isFine = number && number->run < runs && (hasMoment || !(number->isMoment || number->isSoFar));
            if (!isFine)
                return label(match.captured(0).toUtf8(), 60);
        }
    }
    return {};
}

void visitTexts(Lesson &lesson, const std::function<void(Text &, const Step *)> &visit)
{
    for (auto &step : lesson.steps) {
        visit(step.text, &step);
        if (!step.question)
            continue;
        visit(step.question->text, &step);
        visit(step.question->because, &step);
        for (auto &choice : step.question->choices)
            visit(choice, &step);
    }
    for (auto &proof : lesson.proves)
        visit(proof.text, nullptr);
}

Lesson withNumbers(Lesson lesson, const PlayedRuns &runs)
{
    visitTexts(lesson, [&](Text &text, const Step *step) {
        fillIn(text, runs, step && step->until ? momentOf(*step->until, runs) : std::nullopt);
    });
    return lesson;
}

} // namespace lockscope::lessons
