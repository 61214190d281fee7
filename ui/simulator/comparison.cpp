// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/comparison.h"

#include "core/base/text.h"
#include "ui/simulator/words.h"


#include <algorithm>

namespace lockscope::ui {

using simulate::Scenario;

namespace {

Comparison comparisonOf(std::vector<QByteArray> recipes, int contenders)
{
    Comparison comparison;
    comparison.recipes = std::move(recipes);
    comparison.scenario.contenders = contenders;
    comparison.scenario.seed = 7;
    return comparison;
}

} // namespace

std::vector<Scenario> Comparison::scenarios() const
{
    std::vector<Scenario> all;
    for (const auto &recipe : recipes) {
        Scenario one = scenario;
        one.recipe = recipe;
        // A fault that can befall one of them, and not this one, stays out of this run alone.
        const auto own = simulate::faultsFor(recipe);
        const auto isForeign = [&](simulate::FaultKind kind) { return allows(kind) && std::ranges::count(own, kind) == 0; };
        std::erase_if(one.faults, isForeign);
        std::erase_if(one.planned, [&](const simulate::PlannedFault &fault) { return isForeign(fault.kind); });
        all.push_back(std::move(one));
    }
    return all;
}

Result<bool> Comparison::check() const
{
    if (recipes.empty())
        return Error{ErrorCode::BadInput, tr("choose a recipe")};
    for (const auto &one : scenarios()) {
        auto verdict = one.check();
        if (verdict && place.isReal())
            verdict = playableOnServers(one, place.mostSessions, placeName(place));
        if (!verdict)
            return verdict;
    }
    return true;
}

bool Comparison::allows(simulate::FaultKind kind) const
{
    return std::any_of(recipes.begin(), recipes.end(), [&](const QByteArray &recipe) {
        return std::ranges::count(simulate::faultsFor(recipe), kind) > 0;
    });
}

QString placeName(const RunPlace &place)
{
    switch (place.kind) {
    case RunPlace::Kind::Simulated: return tr("the simulated world");
    case RunPlace::Kind::Sandbox: return tr("the sandbox");
    case RunPlace::Kind::Connection: return label(place.connection.bytes(), 60);
    }
    return {};
}

const std::vector<Preset> &presets()
{
    static const std::vector<Preset> all{
        {tr("Herd against predecessor"), comparisonOf({"zk-herd-mutex", "zk-mutex"}, 100)},
        {tr("Polling against publish against a fair queue"),
         comparisonOf({"redis-set-nx", "redisson-lock", "redisson-fair-lock"}, 50)},
        {tr("Optimistic against FOR UPDATE"), comparisonOf({"sql-version", "sql-for-update"}, 50)},
        {tr("One run: watch the predecessor"), comparisonOf({"zk-mutex"}, 100)},
    };
    return all;
}

const std::vector<int> &chartContenders()
{
    static const std::vector<int> all{10, 25, 50, 75, 100, 150, 200};
    return all;
}

} // namespace lockscope::ui
