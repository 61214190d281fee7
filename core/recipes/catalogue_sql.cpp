// The locks of SQL databases.
#include "core/recipes/catalogueentry.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

namespace {

constexpr auto mariaDb = RecipeBackend::MariaDb;

} // namespace

std::vector<RecipeInfo> sqlRecipes()
{
    return {
        seenOnly(recipeEntry("sql-for-update", mariaDb, 0, u"a row locked by SELECT … FOR UPDATE"_s,
                      {u"a server shows it only while contended"_s})),
        seenOnly(recipeEntry("sql-version", mariaDb, 0, u"optimistic: a version column, compared when writing"_s,
                      {u"nothing is held, so nothing can be seen"_s})),
        seenOnly(recipeEntry("sql-get-lock", mariaDb, Reentrant, u"a lock named by GET_LOCK"_s,
                      {u"not replicated: each server has its own"_s})),
    };
}

} // namespace lockscope::recipes
