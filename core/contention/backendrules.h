// SPDX-License-Identifier: Apache-2.0
// What a run on the simulated servers of one backend may come to: which faults can happen there, what each may
// break, and for how long. One implementation per backend, as a table of functions.
#pragma once

#include "core/contention/faults.h"
#include "core/contention/guarantees.h"
#include "core/rules/catalogue.h"

namespace lockscope::contention {

// For how long two may believe to hold it, where a fault makes them: a span that a run never exceeds.
//
// What bounds it is always the same: the time until whoever lost the lock hears of it, or until it stops believing by
// its own clock.
struct OverlapBound {
    Duration atMost{};
    QString words; // "the pause, less the session's timeout"
};

// Of that fault alone; whether it makes two believe at all is in guarantees.h. None where it never does.
[[nodiscard]] std::optional<OverlapBound> overlapBound(const Scenario &scenario, FaultKind fault);
// The same of a lease that its holder renews at every third of it, whatever server keeps it.
[[nodiscard]] std::optional<OverlapBound> overlapOfRenewedLease(const Scenario &scenario, FaultKind fault);
// The same of what an SQL connection holds. Its session asks every second whether the connection stands, and takes
// ten of silence for its end.
[[nodiscard]] std::optional<OverlapBound> overlapOfSqlConnection(const Scenario &scenario, FaultKind fault);
constexpr Duration sqlSilence = std::chrono::seconds(11);
// Of all that is to happen in it.
[[nodiscard]] Duration overlapBound(const Scenario &scenario);

struct BackendRules {
    std::vector<FaultKind> never; // cannot happen there
    // Why two may believe to hold it, and for how long at most.
    GuaranteeRule (*twoBelieve)(const recipes::RecipeInfo &recipe, FaultKind fault, const QByteArray &invariant);
    std::optional<OverlapBound> (*overlap)(const Scenario &scenario, FaultKind fault);
    // How long one that hears nothing believes by its own clock.
    Duration (*believesFor)(const Scenario &scenario);
    // What the order of grants and tokens may lose beside.
    GuaranteeRule (*outOfOrder)(const recipes::RecipeInfo &recipe, FaultKind fault,
                                const QByteArray &invariant) = nullptr;
    bool leasesAreSessions = false; // a hold ends with a session, whose timeout is what faults are drawn by
    bool playsTwoLocks = false;
    // Whether the recipe can be played on so many servers; null: on as many as it is always.
    bool (*canHave)(const recipes::RecipeInfo &recipe, int servers) = nullptr;
    // Whether a client can do it there; BadInput says what can be done. Null: nothing can.
    Result<void> (*checkAct)(const QByteArray &command) = nullptr;
    bool serversStop = false; // one by one, by an operator
    bool playsRows = false;   // several of a table, by an index or without one

    [[nodiscard]] bool canHappen(FaultKind fault) const { return std::ranges::find(never, fault) == never.end(); }
};
[[nodiscard]] const BackendRules &rulesOf(BackendKind backend);

#define LOCKSCOPE_RULES(Name) [[nodiscard]] BackendRules rulesOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_RULES)
#undef LOCKSCOPE_RULES

// The pause before a client connects again, the round trips of that, and of one question more.
constexpr Duration connectsAgain = std::chrono::milliseconds(250);

[[nodiscard]] inline Duration less(Duration span, Duration by)
{
    return std::max(span - by, Duration::zero());
}
// How much longer the first one works: where all queue first, until they have, a millisecond apart, and it is quiet.
[[nodiscard]] inline Duration joining(const Scenario &scenario)
{
    return scenario.arrival == Arrival::Queued ? (scenario.contenders + 20) * Duration(std::chrono::milliseconds(1))
                                               : Duration::zero();
}
// Why two may believe to hold it, by what holds it there (resources/guarantees.json).
[[nodiscard]] GuaranteeRule twoBelieve(const QByteArray &held, FaultKind fault);
[[nodiscard]] bool isAny(FaultKind fault, std::initializer_list<const char *> names);

} // namespace lockscope::contention
