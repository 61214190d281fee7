// SPDX-License-Identifier: Apache-2.0
#include "ui/lessons/lessontext.h"

#include "ui/parts/parts.h"
#include "ui/simulator/faultmenu.h"
#include "ui/simulator/playedrun.h"

#include <algorithm>

namespace lockscope::ui {

std::optional<Comparison> comparisonOf(const lessons::Lesson &lesson)
{
    const auto comparable = [](contention::Scenario scenario) {
        scenario.recipe.clear();
        return scenario;
    };
    const auto &runs = lesson.runs;
    const bool isOne = !runs.empty() && std::ranges::all_of(runs, [&](const lessons::LessonRun &run) {
        return comparable(run.scenario) == comparable(runs.front().scenario);
    });
    if (!isOne)
        return std::nullopt;
    Comparison all{runs.front().scenario, {}};
    for (const auto &run : runs)
        all.recipes.push_back(run.scenario.recipe);
    return all;
}

void addLessonFaults(QMenu &menu, const QString &heading, const lessons::Lesson &lesson, const PlayedRun &played,
                     const LessonPlace &place, std::function<void(const Comparison &)> chosen)
{
    const auto &scenario = lesson.runs[place.run].scenario;
    const auto shown = comparisonOf(lesson).value_or(Comparison{scenario, {scenario.recipe}});
    const ForkPlace here{place.at, place.lane, played.laneName(place.lane),
                         std::max(1, played.recording().history.servers), place.server};
    addMenuHeading(menu, heading);
    addFaults(menu, shown, here, [shown, chosen = std::move(chosen)](const contention::PlannedFault &fault) {
        auto forked = shown;
        forked.scenario.planned.push_back(fault);
        chosen(forked);
    });
}

} // namespace lockscope::ui
