// SPDX-License-Identifier: Apache-2.0
// What lessons say about recordings: where the picture stops, and what has to be true at the end.
#include "core/base/text.h"
#include "core/lessons/lessons.h"

#include <cmath>
#include <iterator>

namespace lockscope::lessons {

namespace {

constexpr const char *languageNames[] = {"en", "zh_CN", "ru"};

// Counters besides those that are plain numbers.
struct Measured {
    const char *name;
    double (*read)(const contention::Recording &run);
};

constexpr Measured allMeasures[] = {
    {"fairness", [](const contention::Recording &run) { return run.counters.fairness; }},
    {"longestOverlapMs",
     [](const contention::Recording &run) { return contention::inMs(run.counters.longestOverlap); }},
    {"waitP50Ms", [](const contention::Recording &run) { return contention::inMs(run.counters.waits.p50); }},
    {"waitP99Ms", [](const contention::Recording &run) { return contention::inMs(run.counters.waits.p99); }},
    {"waitMaxMs", [](const contention::Recording &run) { return contention::inMs(run.counters.waits.max); }},
    {"elapsedMs", [](const contention::Recording &run) { return contention::inMs(run.elapsed); }},
    {"leftBehind", [](const contention::Recording &run) { return double(run.leftBehind.size()); }},
};

// A violation: how often.
double measure(const Proof &proof, const contention::Recording &run)
{
    switch (proof.of) {
    case Proof::Of::Violation:
        return double(
            std::count_if(run.violations.begin(), run.violations.end(),
                          [&](const contention::Violation &violation) { return violation.invariant == proof.name; }));
    case Proof::Of::Events:
        return double(std::count_if(run.events.begin(), run.events.end(),
                                    [&](const contention::Event &event) { return proof.pattern.matches(event); }));
    case Proof::Of::Counter: break;
    }
    return counterOf(proof.name, run);
}

bool compare(double left, Proof::Comparison comparison, double right)
{
    using enum Proof::Comparison;
    switch (comparison) {
    case Equal: return left == right;
    case Unequal: return left != right;
    case Less: return left < right;
    case AtMost: return left <= right;
    case More: return left > right;
    case AtLeast: return left >= right;
    }
    return false;
}

QString spoken(double number)
{
    return QString::number(number, 'f', number == std::floor(number) ? 0 : 1);
}

} // namespace

QByteArray nameOf(Language language)
{
    return languageNames[static_cast<std::size_t>(language)];
}

std::optional<Language> languageByName(const QByteArray &name)
{
    const auto *at = std::ranges::find_if(languageNames, [&name](const char *one) { return name == one; });
    return at == std::end(languageNames) ? std::nullopt : std::optional(static_cast<Language>(at - languageNames));
}

const QString &Text::in(Language language) const
{
    const auto &wanted = language == Language::Chinese ? chinese : language == Language::Russian ? russian : english;
    for (const auto *text : {&wanted, &english, &chinese}) {
        if (!text->isEmpty())
            return *text;
    }
    return russian;
}

bool EventPattern::matches(const contention::Event &event) const
{
    return (!mark || *mark == event.mark) && (!contender || *contender == event.contender)
           && (!what || *what == event.what) && (!isWasted || *isWasted == event.isWasted);
}

contention::Moment momentOfStep(const Lesson &lesson, std::size_t step, const PlayedRuns &runs)
{
    if (step >= lesson.steps.size()) {
        Stop end;
        end.isEnd = true;
        return momentOf(end, runs).value_or(contention::Moment{});
    }
    for (std::size_t i = step + 1; i-- > 0;) {
        const auto &until = lesson.steps[i].until;
        if (const auto moment = until ? momentOf(*until, runs) : std::nullopt)
            return *moment;
    }
    return contention::Moment(-1);
}

std::optional<contention::Moment> momentOf(const Stop &stop, const PlayedRuns &runs)
{
    if (stop.isEnd) {
        contention::Moment last{};
        for (const auto *run : runs)
            last = std::max({last, run->elapsed, run->events.empty() ? contention::Moment{} : run->events.back().at});
        return last;
    }
    int left = stop.count;
    for (const auto &event : runs[stop.run]->events) {
        if (stop.pattern.matches(event) && --left == 0)
            return event.at;
    }
    return std::nullopt;
}

const QList<QByteArray> &counterNames()
{
    static const auto names = [] {
        auto all =
            mapped<QList<QByteArray>>(contention::namedCounters, [&](const auto &counter) { return counter.name; });
        for (const auto &counter : allMeasures)
            all << counter.name;
        return all;
    }();
    return names;
}

double counterOf(const QByteArray &name, const contention::Recording &run)
{
    const auto isIt = [&name](const auto &counter) { return name == counter.name; };
    const auto *plain = std::ranges::find_if(contention::namedCounters, isIt);
    return plain != std::end(contention::namedCounters) ? double(run.counters.*(plain->value))
                                                        : std::ranges::find_if(allMeasures, isIt)->read(run);
}

QString counterText(const QByteArray &name, const contention::Recording &run, Language language)
{
    const bool isOfDrain = name == "requests" || name == "watchEvents" || name == "wastedWakeups";
    const bool isPraise = name == "wastedWakeups" && run.counters.watchEvents == 0; // nobody is told at all
    const bool isCounted =
        isOfDrain ? run.hasDrain() && !isPraise : name != "fairness" || run.counters.fairnessPairs > 0;
    if (!isCounted)
        return u"–"_s;
    const auto number = counterOf(name, run);
    auto locale = localeOf(language);
    locale.setNumberOptions(QLocale::OmitGroupSeparator); // they stand in a column
    return locale.toString(number, 'f', number == std::floor(number) ? 0 : 1);
}

Proven prove(const Proof &proof, const PlayedRuns &runs, Language language)
{
    const auto measured = measure(proof, *runs[proof.run]);
    const auto other = proof.otherRun ? std::optional(measure(proof, *runs[*proof.otherRun])) : std::nullopt;
    Proven proven;
    proven.spoken = formatMeasure(proof, measured, other, language);
    if (proof.of == Proof::Of::Violation) {
        proven.holds = (measured > 0) == (proof.number > 0);
        proven.measured = measured > 0 ? u"present"_s : u"absent"_s;
        return proven;
    }
    proven.holds = compare(measured, proof.comparison, other ? proof.number * *other : proof.number);
    proven.measured = spoken(measured) + (other ? u" / "_s + spoken(*other) : QString());
    return proven;
}

} // namespace lockscope::lessons
