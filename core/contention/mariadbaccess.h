// SPDX-License-Identifier: Apache-2.0
// The row, the named lock and the leased row that contenders of a simulated MariaDB contend for.
#pragma once

#include "core/contention/sqlservers.h"
#include "core/recipes/make.h"
#include "core/rules/rowlayouts.h"

namespace lockscope::contention {

inline const QByteArray simulatedName("sim"), simulatedLeases("sim.shedlock"), simulatedMarks("sim.lock_marks"),
    simulatedFlags("sim.lock_flags");

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

// A row that is there while it is held, or has a flag: nothing ends it.
[[nodiscard]] inline bool takesMarkedRow(const QByteArray &recipe)
{
    return recipes::recipeOf(recipe).endsBy == recipes::EndsBy::Never;
}
[[nodiscard]] inline sim::RowId markedRowOf(const QByteArray &recipe)
{
    const auto *layout = recipes::rowLayoutNamed(recipes::recipeOf(recipe).namePrefix);
    return {layout && !layout->flag.isEmpty() ? simulatedFlags : simulatedMarks, simulatedName};
}
inline void addMarkedRows(sim::SqlServer &server)
{
    server.markedRows().addMarks(simulatedMarks);
    server.markedRows().addFlag({simulatedFlags, simulatedName});
}
// `row`: which of those that are only locked.
[[nodiscard]] inline QByteArray simulatedLockOf(const QByteArray &recipe, int row)
{
    const auto &prefix = recipes::recipeOf(recipe).namePrefix;
    if (takesNamedLock(recipe))
        return prefix + simulatedName;
    if (takesLeasedRow(recipe))
        return prefix + simulatedLeases + '#' + simulatedName;
    if (takesMarkedRow(recipe))
        return prefix + markedRowOf(recipe).table + '#' + simulatedName;
    return simulatedTable + '#' + simulatedKey + '=' + simulatedRowOf(row);
}

[[nodiscard]] inline std::unique_ptr<SqlAccess> openMariaDbAccess(const SqlAccessContext &context)
{
    const auto &scenario = context.scenario;
    const auto lock = simulatedLockOf(scenario.recipe, context.contender % scenario.rows);
    const recipes::AcquireOptions options{false, 1, scenario.ttl};
    return std::make_unique<SqlAccess>(
        sim::openSession(context.process, context.server, context.network), context.trace, context.contender,
        [recipe = scenario.recipe, lock, options](mariadb::Session &session, Random random) {
            return recipes::makeLock(recipe, session, lock, options, std::move(random));
        });
}

} // namespace lockscope::contention
