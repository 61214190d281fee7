// SPDX-License-Identifier: Apache-2.0
// Recipes with one mistake each, for lessons and for the checkers' own test: whoever cannot find these finds
// nothing. They exist in the simulated world alone.
#pragma once

#include "core/contention/traced/tracedconnection.h"
#include "core/contention/traced/tracedsession.h"
#include "core/recipes/make.h"

namespace lockscope::contention {

struct Mutant {
    QByteArray id;   // "broken-…"
    QByteArray of;   // the recipe it is a mistake in
    QString summary; // what is wrong, and when that shows
};
[[nodiscard]] const std::vector<Mutant> &mutants();
[[nodiscard]] const Mutant *findMutant(const QByteArray &id);
// What can be played by this id: the catalogue's entry, also of a mutant. Null when there is none.
[[nodiscard]] const recipes::RecipeInfo *playable(const QByteArray &id);

// As recipes::makeLock, for mutants too.
[[nodiscard]] Result<std::unique_ptr<recipes::Lock>> makePlayableLock(const QByteArray &id, zk::Session &session,
                                                                      const ZPath &lock,
                                                                      const recipes::AcquireOptions &options,
                                                                      Random random);
// The port such a contender talks through.
[[nodiscard]] std::unique_ptr<TracedSession> tracedFor(const QByteArray &id, zk::Session &inner, Trace &trace,
                                                       int contender);
[[nodiscard]] std::unique_ptr<TracedConnection> tracedFor(const QByteArray &id, redis::Connection &inner,
                                                          Trace &trace, int contender);

} // namespace lockscope::contention
