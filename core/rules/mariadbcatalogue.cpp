// SPDX-License-Identifier: Apache-2.0
// The locks of SQL databases.
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

std::vector<RecipeInfo> recipesOfMariaDb()
{
    constexpr auto mariaDb = BackendKind::MariaDb;
    using enum ReleaseWay;
    // Requests are statements; a waiter's is answered when its turn has come, so nothing else has to wake it.
    return {
        {.id = "sql-for-update",
         .backend = mariaDb,
         .summary = u"a row locked by SELECT … FOR UPDATE in a transaction"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "FOR UPDATE"),
         .shape = Shape::Row,
         .wakeUp = WakeUp::Answer,
         .release = KillConnection,
         .fair = true,
         .fenced = false,
         .seenContended = true,
         .requestsAcquireFree = u"2"_s,
         .requestsAcquireQueued = u"2"_s,
         .requestsRelease = u"1"_s,
         .wakeupsPerRelease = u"0"_s,
         .flaws = {u"a server shows it only while contended"_s,
                   u"the server may choose a waiter as the victim of a deadlock"_s,
                   u"a half-open client holds it until TCP gives up"_s}},
        {.id = "sql-version",
         .backend = mariaDb,
         .summary = u"optimistic: a column `version`, compared when writing"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Optimistic"),
         .shape = Shape::Row,
         .wakeUp = WakeUp::Polling,
         .optimistic = true,
         .requestsAcquireFree = u"1"_s,
         .requestsAcquireQueued = u"1 and 2 per lost round"_s,
         .requestsRelease = u"1"_s,
         .wakeupsPerRelease = u"0"_s,
         .flaws = {u"nothing is held, so nothing can be seen and nobody is kept out"_s,
                   u"under contention all but one of a round work in vain"_s}},
        {.id = "sql-get-lock",
         .backend = mariaDb,
         .summary = u"a lock named by GET_LOCK, held by a connection"_s,
         .shape = Shape::NamedLock,
         .wakeUp = WakeUp::Answer,
         .release = KillConnection,
         .fair = true,
         .reentrant = true,
         .fenced = false,
         .requestsAcquireFree = u"1"_s,
         .requestsAcquireQueued = u"1"_s,
         .requestsRelease = u"1"_s,
         .wakeupsPerRelease = u"0"_s,
         .flaws = {u"not replicated: each server has its own"_s,
                   u"a half-open client holds it until TCP gives up"_s}},
        {.id = "sql-table-lock",
         .backend = mariaDb,
         .summary = u"a table: LOCK TABLES, ALTER and the like, and transactions that are in their way"_s,
         .shape = Shape::Table,
         .wakeUp = WakeUp::Answer,
         .release = KillConnection,
         .fair = true,
         .seenContended = true,
         .simulated = false,
         .flaws = {u"an open transaction that only read keeps ALTER waiting, and ALTER all others behind it"_s,
                   u"a half-open client holds it until TCP gives up"_s}},
        {.id = "sql-liquibase",
         .backend = mariaDb,
         .summary = u"Liquibase: the row in DATABASECHANGELOGLOCK says who changes the schema"_s,
         .shape = Shape::Row,
         .endsBy = EndsBy::Lease, // without any time: a client that dies leaves it locked for good
         .wakeUp = WakeUp::Polling,
         .release = ClearRow,
         .fenced = false,
         .simulated = false,
         .flaws = {u"a client that dies leaves it locked for good"_s,
                   u"its unlock clears the row without comparing who has set it"_s}},
        {.id = "sql-shedlock",
         .backend = mariaDb,
         .summary = u"ShedLock: a row says until when a job is locked"_s,
         .shape = Shape::Row,
         .endsBy = EndsBy::Timestamp,
         .wakeUp = WakeUp::Polling,
         .releaseRefusal =
             u"it ends by itself at lock_until, and its client keeps in memory which rows there are: have "
             u"the client that holds it end, or wait"_s,
         .fenced = false,
         .simulated = false,
         .flaws = {u"who takes longer than lock_until holds it no more, and is not told"_s}},
    };
}

} // namespace lockscope::recipes
