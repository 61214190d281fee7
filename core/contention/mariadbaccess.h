// SPDX-License-Identifier: Apache-2.0
// The row, the named lock and the leased row that contenders of a simulated MariaDB contend for.
#pragma once

#include "core/contention/sqlaccess.h"
#include "core/recipes/make.h"
#include "core/simservers/mariadb/session.h"

namespace lockscope::contention {

inline const QByteArray simulatedName("sim"), simulatedLeases("sim.shedlock");

// From 0.
[[nodiscard]] inline QByteArray simulatedRowOf(int number)
{
    return QByteArray::number(number + 1);
}
// A row that says until when it is locked, rather than one that is locked.
[[nodiscard]] inline bool takesLeasedRow(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).endsBy == recipes::EndsBy::Lease;
}

[[nodiscard]] inline std::unique_ptr<SqlAccess> openMariaDbAccess(const SqlAccessContext &context)
{
    const auto &scenario = context.scenario;
    const auto lock = takesNamedLock(scenario.recipe)   ? "GET_LOCK#" + simulatedName
                      : takesLeasedRow(scenario.recipe) ? "SHEDLOCK#" + simulatedLeases + '#' + simulatedName
                                                        : simulatedTable + '#' + simulatedKey + '='
                                                              + simulatedRowOf(context.contender % scenario.rows);
    const recipes::AcquireOptions options{false, 1, scenario.ttl};
    return std::make_unique<SqlAccess>(
        sim::openSession(context.process, context.server, context.network), context.trace, context.contender,
        [recipe = scenario.recipe, lock, options](mariadb::Session &session, Random random) {
            return recipes::makeLock(recipe, session, lock, options, std::move(random));
        });
}

} // namespace lockscope::contention
