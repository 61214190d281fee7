// SPDX-License-Identifier: Apache-2.0
// The locks of PostgreSQL.
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

std::vector<RecipeInfo> recipesOfPostgreSql()
{
    using enum ReleaseMechanism;
    const auto halfOpen = u"a half-open client holds it until TCP gives up"_s;
    return {
        {.id = "pg-advisory",
         .summary = u"an advisory lock of a session, by one key or two: pg_advisory_lock"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "Advisory"),
         .shape = Shape::NamedLock,
         .wakeUp = WakeUp::Answer,
         .release = TerminateBackend,
         .fair = true,
         .reentrant = true,
         .fenced = false,
         .counts = {.acquireFree = u"1"_s, .acquireQueued = u"1"_s, .release = u"1"_s, .wakeUps = u"0"_s},
         .flaws = {u"a number says not what it is for: two applications may mean different things by it"_s,
                   u"behind a transaction-pooling proxy, another client can own it from the next transaction on"_s,
                   halfOpen}},
        {.id = "pg-for-update",
         .summary = u"a row locked by SELECT … FOR UPDATE in a transaction"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "FOR UPDATE (PostgreSQL)"),
         .shape = Shape::Row,
         .wakeUp = WakeUp::Answer,
         .release = TerminateBackend,
         .fenced = false,
         .seenContended = true,
         .counts = {.acquireFree = u"2"_s, .acquireQueued = u"2"_s, .release = u"1"_s, .wakeUps = u"0"_s},
         .flaws = {u"a server shows it only while contended"_s,
                   u"a client that asks just as it is freed may be quicker than a waiter"_s,
                   u"the server may choose a waiter as the victim of a deadlock"_s, halfOpen}},
        {.id = "pg-skip-locked",
         .summary = u"a work queue: any one row of those that fit, past those that others have (SKIP LOCKED)"_s,
         .title = QT_TRANSLATE_NOOP("Recipe", "SKIP LOCKED"),
         .shape = Shape::Row,
         .wakeUp = WakeUp::Polling,
         .releaseRefusal = u"no client ever waits for such a row, so a server never shows its holder"_s,
         .fenced = false,
         .seenContended = true,
         .counts =
             {.acquireFree = u"2"_s, .acquireQueued = u"2 and 3 per poll"_s, .release = u"1"_s, .wakeUps = u"0"_s},
         .flaws = {u"no client waits for it, so a server never shows it"_s,
                   u"a row that fits still after its work was done is handed out again"_s, halfOpen}},
        {.id = "pg-table",
         .summary = u"a table or another database object that a client waits for: LOCK TABLE, ALTER, DROP"_s,
         .shape = Shape::Table,
         .wakeUp = WakeUp::Answer,
         .release = TerminateBackend,
         .fair = true,
         .fenced = false,
         .seenContended = true},
        {.id = "pg-liquibase",
         .summary = u"Liquibase: the row in databasechangeloglock says who changes the schema"_s,
         .shape = Shape::Row,
         .endsBy = EndsBy::Lease, // without any time: a client that dies leaves it locked for good
         .wakeUp = WakeUp::Polling,
         .release = ClearPgRow,
         .fenced = false,
         .simulated = false,
         .flaws = {u"a client that dies leaves it locked permanently"_s,
                   u"its unlock clears the row without comparing who has set it"_s}},
        {.id = "pg-shedlock",
         .summary = u"ShedLock: a row says who has it, and until when"_s,
         .shape = Shape::Row,
         .endsBy = EndsBy::Lease,
         .wakeUp = WakeUp::Polling,
         .release = ClearPgRow,
         .fenced = false,
         .simulated = false,
         .flaws = {u"a client paused for longer than lock_until loses the lock without being notified"_s,
                   u"waiters are not woken; they poll"_s, u"not fair"_s,
                   u"clients must agree on one clock and one time zone"_s}},
        {.id = "pg-row-lock",
         .summary = u"a row that is a lock by what stands in it: Knex, knex-migrator, Hangfire, Laravel, Spring, "
                    u"Symfony, Drupal"_s,
         .shape = Shape::Row,
         .endsBy = EndsBy::Lease, // without any time, of some
         .wakeUp = WakeUp::Polling,
         .releaseRefusal = u"only its own client frees such a row"_s,
         .fenced = false,
         .simulated = false,
         .flaws = {u"of Knex, knex-migrator and Hangfire a client that dies leaves it held, and nothing says who it "
                   u"was"_s}},
    };
}

} // namespace lockscope::recipes
