// SPDX-License-Identifier: Apache-2.0
// A scenario, played in the simulated world for a command.
#pragma once

#include "app/lockscopectl/command.h"
#include "core/contention/simulation.h"

namespace lockscope::ctl {

// On a thread of its own, so that Ctrl-C ends it. Handed over and never copied: there may be millions of events.
[[nodiscard]] Task<Result<contention::Recording>> playSimulated(CommandContext &context,
                                                                contention::Scenario scenario);

// What `simulate` says beside "this did not hold": the shortest schedule found that breaks the same, and its events.

// How many replays --shrink allows for this scenario: without the option so many, in a text, as it takes a moment;
// with --json none. BadInput.
[[nodiscard]] Result<int> replaysFor(CommandContext &context, const contention::Scenario &scenario);

// Of the first violation. On a thread of its own, so that Ctrl-C ends it.
[[nodiscard]] Task<Result<contention::Shortest>> findShortest(CommandContext &context, contention::Scenario scenario,
                                                              QByteArray invariant, int mostReplays);

void printShortest(const contention::Shortest &shortest, const QByteArray &invariant);
// "shortest" of an entry of "runs".
[[nodiscard]] QJsonObject toJson(const contention::Shortest &shortest, const QByteArray &invariant);

} // namespace lockscope::ctl
