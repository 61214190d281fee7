// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/simulatorheading.h"

#include "core/base/text.h"
#include "ui/simulator/words.h"
#include "ui/theme/text.h"


namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

HeadingChip placeChip(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs)
{
    HeadingChip chip;
    chip.isPlace = true;
    QStringList servers;
    bool isSimulated = false;
    for (const auto &run : runs) {
        const auto &world = run->recording().world;
        isSimulated = isSimulated || world == "sim";
        if (const QString name = label(world, 40); world != "sim" && !servers.contains(name))
            servers << name;
    }
    chip.isReal = !servers.isEmpty();
    const QString names = servers.join(tr(" and "));
    const bool isSandbox = comparison.place.kind == RunPlace::Kind::Sandbox;
    const QString played = isSandbox ? tr("played on %1 of the sandbox").arg(names) : tr("played on %1").arg(names);
    // Both only where recordings of both were opened.
    chip.text = !chip.isReal ? tr("simulated world") : isSimulated ? tr("simulated world, and %1").arg(played) : played;
    return chip;
}

QString arrivalText(const simulate::Scenario &scenario)
{
    return scenario.arrival == simulate::Arrival::Queued ? tr("all queue first")
                                                         : tr("arrive within %1").arg(durationText(scenario.arriveWithin));
}

} // namespace

QString headingOf(const Comparison &comparison)
{
    if (comparison.recipes.empty())
        return tr("Simulator");
    const auto &scenario = comparison.scenario;
    const QString who = scenario.contenders == 1 ? tr("1 contender") : tr("%1 contenders").arg(countText(scenario.contenders));
    const QString what = scenario.limit > 1 ? tr("%1 permits").arg(countText(scenario.limit)) : tr("one lock");
    return scenario.rounds > 1 ? tr("%1, %2, %3 rounds").arg(who, what, countText(scenario.rounds)) : tr("%1, %2").arg(who, what);
}

std::vector<HeadingChip> chipsOf(const Comparison &comparison, const std::vector<PlayedRunPtr> &runs)
{
    if (comparison.recipes.empty())
        return {};
    const auto &scenario = comparison.scenario;
    const QString seed = QString::number(scenario.seed);
    std::vector<HeadingChip> chips{placeChip(comparison, runs)};
    // Real servers draw nothing from it, and do not play it again the same.
    chips.push_back(chips.front().isReal ? HeadingChip{tr("real time"), false, {}}
                                         : HeadingChip{tr("seed %1").arg(seed), false, seed});
    chips.push_back({tr("hold %1").arg(durationText(scenario.hold)), false, {}});
    chips.push_back({arrivalText(scenario), false, {}});
    if (scenario.readersPercent > 0)
        chips.push_back({tr("%1 % readers").arg(scenario.readersPercent), false, {}});
    if (scenario.perProcess > 1)
        chips.push_back({tr("%1 share a process").arg(scenario.perProcess), false, {}});
    QStringList faults;
    for (const auto kind : scenario.faults)
        faults << QString::fromLatin1(nameOf(kind));
    for (const auto &planned : scenario.planned)
        faults << plannedText(planned, runs.empty() ? QString::number(planned.contender) : runs.front()->laneName(planned.contender));
    if (chips.front().isReal && faults.isEmpty())
        return chips;
    chips.push_back({faults.isEmpty() ? tr("no faults") : tr("faults: %1").arg(faults.join(u", "_s)), !faults.isEmpty(), {}});
    return chips;
}

} // namespace lockscope::ui
