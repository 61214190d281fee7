// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/comparison.h"

#include "core/base/text.h"
#include "ui/simulator/simulatortext.h"

namespace lockscope::ui {

using Kind = RunPlace::Kind;
using contention::Scenario;

namespace {

Comparison comparisonOf(std::vector<QByteArray> recipes, int contenders)
{
    Comparison comparison;
    comparison.recipes = std::move(recipes);
    comparison.scenario.contenders = contenders;
    comparison.scenario.seed = 7;
    return comparison;
}

// What the arguments about Redlock are played on: one holds for a while, one waits.
Comparison redlockOf(std::vector<contention::PlannedFault> planned)
{
    Comparison comparison = comparisonOf({"redlock"}, 2);
    comparison.scenario.ttl = std::chrono::seconds(2);
    comparison.scenario.hold = std::chrono::milliseconds(500);
    comparison.scenario.planned = std::move(planned);
    return comparison;
}

// Its requests to the first two of the five are lost: the lock stands on the other three.
std::vector<contention::PlannedFault> twoLost()
{
    contention::PlannedFault lost;
    lost.kind = contention::FaultKind::LoseRequest;
    lost.at = std::chrono::microseconds(999); // before the first of them is sent, and after it has connected
    return {lost, lost};
}

} // namespace

std::vector<Scenario> Comparison::scenarios() const
{
    std::vector<Scenario> all;
    for (const auto &recipe : recipes) {
        Scenario one = scenario;
        one.recipe = recipe;
        // A fault that can befall one of them, and not this one, stays out of this run alone.
        const auto own = contention::faultsFor(recipe);
        const auto isForeign = [&](contention::FaultKind kind) {
            return allows(kind) && std::ranges::count(own, kind) == 0;
        };
        std::erase_if(one.faults, isForeign);
        std::erase_if(one.planned, [&](const contention::PlannedFault &fault) { return isForeign(fault.kind); });
        all.push_back(std::move(one));
    }
    return all;
}

Result<void> Comparison::check() const
{
    if (recipes.empty())
        return Error{ErrorCode::BadInput, Simulator::tr("choose a recipe")};
    for (const auto &played : scenarios()) {
        auto verdict = played.check();
        if (verdict && place.isReal())
            verdict = playableOnServers(played, place.mostSessions, placeName(place));
        if (!verdict)
            return verdict;
    }
    return {};
}

bool Comparison::allows(contention::FaultKind kind) const
{
    return std::any_of(recipes.begin(), recipes.end(), [&](const QByteArray &recipe) {
        return std::ranges::count(contention::faultsFor(recipe), kind) > 0;
    });
}

QString placeName(const RunPlace &place)
{
    switch (place.kind) {
    case RunPlace::Kind::Simulated: return Simulator::tr("the simulator");
    case RunPlace::Kind::Sandbox: return Simulator::tr("the sandbox");
    case RunPlace::Kind::Connection: return label(place.connection.bytes(), 60);
    }
    return {};
}

std::vector<Preset> presets()
{
    return {
        {Simulator::tr("Herd against predecessor"), comparisonOf({"zk-herd-mutex", "zk-mutex"}, 100)},
        {Simulator::tr("Polling against publish against a fair queue"),
         comparisonOf({"redis-set-nx", "redisson-lock", "redisson-fair-lock"}, 50)},
        {Simulator::tr("Optimistic against FOR UPDATE"), comparisonOf({"sql-version", "sql-for-update"}, 50)},
        {Simulator::tr("One run: watch the predecessor"), comparisonOf({"zk-mutex"}, 100)},
        {Simulator::tr("Redlock on five servers"), redlockOf({})},
        {Simulator::tr("Redlock on three of five servers"), redlockOf(twoLost())},
    };
}

const std::vector<int> &chartContenders()
{
    static const std::vector<int> all{10, 25, 50, 75, 100, 150, 200};
    return all;
}

namespace {

// Why nothing can be played on a connection, whatever it is.
std::optional<Error> obstacleOf(const ConnectionStatus &status)
{
    if (status.production)
        return Error{ErrorCode::Refused, Simulator::tr("production: nothing is ever simulated there")};
    if (status.readOnlyForGood)
        return Error{ErrorCode::Refused, Simulator::tr("read-only for this run: contenders write")};
    if (status.readOnly)
        return Error{ErrorCode::Refused, Simulator::tr("read-only: contenders write; allow writes on it first")};
    if (status.state != ConnectionStatus::State::Connected)
        return Error{ErrorCode::NotConnected, Simulator::tr("not connected")};
    return {};
}

Result<ConnectionName> sandboxServerFor(const ConnectionBook &book, BackendKind backend)
{
    const auto &servers = book.sandbox();
    const auto found =
        std::ranges::find_if(servers, [&](const auto &server) { return backendOf(server.second) == backend; });
    if (found == servers.end())
        return Error{ErrorCode::NotConnected,
                     Simulator::tr("the sandbox has no connected %1; choose another recipe or the simulator")
                         .arg(infoOf(backend).title)};
    // Its first status may be on its way: the run itself waits until it is connected.
    const auto *status = book.find(found->first);
    if (status && status->readOnlyForGood)
        return Error{ErrorCode::Refused, Simulator::tr("the sandbox is read-only for this run: contenders write")};
    return found->first;
}

Result<ConnectionName> connectionFor(const ConnectionBook &book, const RunPlace &place, const QByteArray &recipe)
{
    const auto backend = recipes::findRecipe(recipe)->backend; // it is playable: there is one
    if (place.kind == Kind::Sandbox)
        return sandboxServerFor(book, backend);
    const auto *status = book.find(place.connection);
    if (!status)
        return Error{ErrorCode::NotConnected, Simulator::tr("%1 is not open any more").arg(placeName(place))};
    if (const auto obstacle = obstacleOf(*status))
        return Error{obstacle->code,
                     Simulator::tr("nothing is played on %1: %2").arg(placeName(place), obstacle->message)};
    if (backendOf(status->scheme) != backend)
        return Error{ErrorCode::BadInput, Simulator::tr("%1 is a lock on %2, which %3 is not")
                                              .arg(label(recipe), infoOf(backend).title, placeName(place))};
    return place.connection;
}

} // namespace

std::vector<PlaceChoice> placeChoices(const ConnectionBook &book)
{
    std::vector<PlaceChoice> all{
        {{Kind::Simulated, {}}, Simulator::tr("Simulator"), {}},
        {{Kind::Sandbox, {}},
         book.sandbox().empty() ? Simulator::tr("Sandbox (starts private servers)") : Simulator::tr("Sandbox"),
         {}}};
    for (const auto &status : book.all()) {
        if (book.sandbox().contains(status.name))
            continue;
        const auto obstacle = obstacleOf(status);
        all.push_back({{Kind::Connection, status.name},
                       label(status.name.bytes(), 60),
                       obstacle ? obstacle->message : QString()});
    }
    return all;
}

bool wantsSandbox(const ConnectionBook &book, const Comparison &comparison)
{
    const auto isMissing = [&](const QByteArray &recipe) {
        const auto *info = contention::playable(recipe);
        return info && std::ranges::none_of(book.sandbox(), [&](const auto &server) {
                   return backendOf(server.second) == info->backend;
               });
    };
    return comparison.place.kind == Kind::Sandbox && std::ranges::any_of(comparison.recipes, isMissing);
}

Result<std::vector<RealRunOptions>> realRuns(const ConnectionBook &book, const Comparison &comparison)
{
    TRY_VOID(comparison.check());
    std::vector<RealRunOptions> runs;
    for (auto &scenario : comparison.scenarios()) {
        TRY(const auto &connection, connectionFor(book, comparison.place, scenario.recipe));
        runs.push_back({std::move(scenario), connection, comparison.place.mostSessions});
    }
    return runs;
}

} // namespace lockscope::ui
