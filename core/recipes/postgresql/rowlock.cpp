// SPDX-License-Identifier: Apache-2.0
// The row lock. Source: PostgreSQL documentation, "Row-Level Locks" and "The Locking Clause" of SELECT; src/backend/
// access/heap/README.tuplock.
//   1. START TRANSACTION: the lock will live as long as this.
//   2. SELECT the row FOR UPDATE. If another transaction has it, the server lets us wait: the first for that
//      transaction's end, all others for the right to be the next. Without time to wait: NOWAIT.
//   3. No such row: nothing is locked. That is an error of its own, not "free". A row that is itself a lock, and says
//      that it is taken (rowname.h): refused.
//   4. Whatever went wrong (no time left, victim of a deadlock, connection lost): ROLLBACK. A statement that
//      failed has ended the transaction already; until its ROLLBACK the connection is good for nothing.
//   5. To release, COMMIT (sqllock.cpp).
//
// Who comes in the moment in which it is freed, before the next one has woken up, gets it: not quite first come first
// served. A lost reply needs no question: with the connection the server drops the transaction and its locks. No
// fencing token.
#include "core/postgresql/dialect.h"
#include "core/recipes/postgresql/locks.h"

namespace lockscope::recipes {

PgRowLock::PgRowLock(mariadb::Session &session, const QByteArray &lock, RowName row)
    : TransactionLock(session, lock), m_row(std::move(row))
{
}

Task<Result<Grant>> PgRowLock::takeOn(mariadb::ConnectionId connection, Deadline deadline)
{
    UndoGuard guard(UndoCall{waitGroup(), undoing(connection)});                      // 4
    CO_TRY_VOID(co_await session().begin(connection, answerBy(session(), deadline))); // 1
    const bool hasTime = !deadline.hasPassed(session().loop());
    const QByteArray how = hasTime ? " FOR UPDATE" : " FOR UPDATE NOWAIT";
    const mariadb::Statement select{"SELECT * FROM " + pgTable(m_row) + " WHERE " + pgCondition(m_row) + how,
                                    m_row.values, connection, false};
    auto locking = session().execute(select, hasTime ? deadline : answerBy(session(), deadline)); // 2
    const auto row = co_await locking;
    if (!row && row.error().code == ErrorCode::TimedOut)
        co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
    if (!row)
        co_return row.error();
    if (row->rows.empty()) // 3
        co_return Error{ErrorCode::NoRow, u"the row does not exist, so there is nothing to lock"_s};
    const mariadb::Statement clock{pgClock, {}, connection, false};
    CO_TRY_VOID(co_await refuseOwnedRow(&session(), m_row, *row, clock, deadline));
    guard.dismiss();
    co_return holdOn(connection);
}

} // namespace lockscope::recipes
