// SPDX-License-Identifier: Apache-2.0
// The row and the advisory lock that contenders of a simulated PostgreSQL contend for.
#pragma once

#include "core/contention/sqlservers.h"
#include "core/recipes/make.h"
#include "core/simservers/postgresql/session.h"

namespace lockscope::contention {

inline const QByteArray simulatedAdvisory("42");

[[nodiscard]] inline std::unique_ptr<SqlAccess> openPostgreSqlAccess(const SqlAccessContext &context)
{
    const auto &recipe = context.scenario.recipe;
    const auto lock = takesNamedLock(recipe) ? "ADVISORY#" + simulatedAdvisory
                                             : simulatedTable + '#' + simulatedKey + '=' + simulatedRow;
    return std::make_unique<SqlAccess>(sim::openPostgreSqlSession(context.process, context.server, context.network),
                                       context.trace, context.contender,
                                       [recipe, lock](mariadb::Session &session, Random /*random*/) {
                                           return recipes::makePostgreSqlLock(recipe, session, lock, {});
                                       });
}

} // namespace lockscope::contention
