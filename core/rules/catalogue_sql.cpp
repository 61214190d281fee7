// SPDX-License-Identifier: Apache-2.0
// The locks of SQL databases.
#include "core/rules/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr auto mariaDb = RecipeBackend::MariaDb;

} // namespace

std::vector<RecipeInfo> sqlRecipes()
{
    // Requests are statements; a waiter's is answered when its turn has come, so nothing else has to wake it.
    return {
        acquirable(recipeEntry("sql-for-update", mariaDb, Fair, u"a row locked by SELECT … FOR UPDATE in a transaction"_s,
                        {u"a server shows it only while contended"_s,
                         u"the server may choose a waiter as the victim of a deadlock"_s,
                         u"a half-open client holds it until TCP gives up"_s, noFencingToken()}),
                   {u"2"_s, u"2"_s, u"1"_s, u"0"_s}),
        acquirable(recipeEntry("sql-version", mariaDb, 0, u"optimistic: a column `version`, compared when writing"_s,
                        {u"nothing is held, so nothing can be seen and nobody is kept out"_s,
                         u"under contention all but one of a round work in vain"_s}),
                   {u"1"_s, u"1 and 2 per lost round"_s, u"1"_s, u"0"_s}),
        acquirable(recipeEntry("sql-get-lock", mariaDb, Fair | Reentrant, u"a lock named by GET_LOCK, held by a connection"_s,
                        {u"not replicated: each server has its own"_s,
                         u"a half-open client holds it until TCP gives up"_s, noFencingToken()}),
                   {u"1"_s, u"1"_s, u"1"_s, u"0"_s}),
    };
}

} // namespace lockscope::recipes
