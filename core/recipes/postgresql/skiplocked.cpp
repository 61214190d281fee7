// SPDX-License-Identifier: Apache-2.0
// A row of a work queue. Source: PostgreSQL documentation, "The Locking Clause" of SELECT, SKIP LOCKED.
//   1. START TRANSACTION: the row will be ours as long as this.
//   2. SELECT one of the rows that fit FOR UPDATE SKIP LOCKED: those that others have are passed over, so
//      nobody waits.
//   3. None: ROLLBACK, so that what comes meanwhile is seen, rest a little, and begin anew while there is time.
//   4. Whatever went wrong: ROLLBACK.
//   5. To release, COMMIT (sqllock.cpp). What was done for the row is to be written in it before, on the same
//      connection; or the row is handed out again.
//
// In which order rows are handed out is the table's business. Nobody waits, so a server never shows who has which.
#include "core/recipes/postgresql/locks.h"

#include "core/async/sleep.h"
#include "core/postgresql/dialect.h"

namespace lockscope::recipes {

constexpr auto pollsQueueEvery = 100ms;

SkipLockedLock::SkipLockedLock(mariadb::Session &session, const QByteArray &lock, RowName queue)
    : TransactionLock(session, lock), m_queue(std::move(queue))
{
}

Task<Result<Grant>> SkipLockedLock::takeOn(mariadb::ConnectionId connection, Deadline deadline)
{
    auto &loop = session().loop();
    UndoGuard guard(UndoCall{waitGroup(), undoing(connection)}); // 4
    for (;;) {
        CO_TRY(const auto &got, co_await tryOnce(connection, deadline));
        if (got)
            break;
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out: others have every row that fits, or there is none"_s,
                            true};
        const auto next = std::min<Instant>(deadline.when(), loop.now() + pollsQueueEvery);
        co_await sleepUntil(loop, next); // 3
    }
    guard.dismiss();
    co_return holdOn(connection);
}

Task<Result<bool>> SkipLockedLock::tryOnce(mariadb::ConnectionId connection, Deadline deadline)
{
    CO_TRY_VOID(co_await session().begin(connection, answerBy(session(), deadline))); // 1
    const mariadb::Statement select{"SELECT * FROM " + pgTable(m_queue) + " WHERE " + pgCondition(m_queue)
                                        + " LIMIT 1 FOR UPDATE SKIP LOCKED",
                                    m_queue.values, connection, false};
    CO_TRY(const auto &row, co_await session().execute(select, answerBy(session(), deadline))); // 2
    if (!row.rows.empty()) {
        const mariadb::Statement clock{pgClock, {}, connection, false};
        CO_TRY_VOID(co_await refuseOwnedRow(&session(), m_queue, row, clock, deadline));
        co_return true;
    }
    CO_TRY_VOID(co_await session().rollback(connection, answerBy(session(), deadline)));
    co_return false;
}

} // namespace lockscope::recipes
