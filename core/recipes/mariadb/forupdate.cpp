// SPDX-License-Identifier: Apache-2.0
// The row lock. Source: MariaDB documentation, "SELECT ... FOR UPDATE" and "InnoDB Lock Modes".
//   1. START TRANSACTION: the lock will live as long as this.
//   2. SELECT the row FOR UPDATE. If another transaction has it, the server queues us, first come first
//      served, and answers when the row is ours. Without time to wait: NOWAIT.
//   3. The server's own lock wait timeout (1205) is not ours: while there is time, ask again.
//   4. No such row: nothing is locked. That is an error of its own, not "free". A row that is itself a lock, and says
//      that it is taken (rowname.h): refused.
//   5. Whatever else went wrong (no time left, victim of a deadlock, connection lost): ROLLBACK, so that
//      an attempt that failed holds nothing.
//   6. To release, COMMIT (sqllock.cpp). Who waited next has the row at once, and is told by its own answer.
//
// A lost reply needs no question: with the connection the server drops the transaction and its locks. No
// fencing token.
#include "core/recipes/mariadb/locks.h"

namespace lockscope::recipes {

ForUpdateLock::ForUpdateLock(mariadb::Session &session, const QByteArray &lock, RowName row)
    : TransactionLock(session, lock), m_row(std::move(row))
{
}

Task<Result<Grant>> ForUpdateLock::takeOn(mariadb::ConnectionId connection, Deadline deadline)
{
    UndoGuard guard(UndoCall{waitGroup(), undoing(connection)});                      // 5
    CO_TRY_VOID(co_await session().begin(connection, answerBy(session(), deadline))); // 1
    CO_TRY(const auto &row, co_await lockRow(connection, deadline));                  // 2, 3
    if (row.rows.empty())                                                             // 4
        co_return Error{ErrorCode::NoRow, u"the row does not exist, so there is nothing to lock"_s};
    const mariadb::Statement clock{ownClock, {}, connection, false};
    CO_TRY_VOID(co_await refuseOwnedRow(&session(), m_row, row, clock, deadline));
    guard.dismiss();
    co_return holdOn(connection);
}

Task<Result<mariadb::Rows>> ForUpdateLock::lockRow(mariadb::ConnectionId connection, Deadline deadline)
{
    const mariadb::Statement select{"SELECT * FROM " + m_row.quotedTable() + " WHERE " + m_row.condition()
                                        + " FOR UPDATE",
                                    m_row.values, connection, false};
    auto once = select;
    once.text += " NOWAIT";
    auto &loop = session().loop();
    for (bool isFirst = true;; isFirst = false) {
        const bool hasTime = !deadline.hasPassed(loop);
        if (!hasTime && !isFirst)
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        auto locking =
            hasTime ? session().execute(select, deadline) : session().execute(once, answerBy(session(), deadline));
        auto row = co_await locking;
        if (row || row.error().code != ErrorCode::TimedOut || !hasTime)
            co_return row;
    }
}

mariadb::Statement ForUpdateLock::ownershipQuery() const
{
    // It ends only with the transaction, and that only with the connection, or when the server rolls it back: of that
    // its victim is told, and what it can say later depends on the server.
    const auto features = session().features();
    const QByteArray notTold = "SELECT 1 AS mine";
    const auto byEvents = features.transactionEvents ? mariadb::hasTransactionByEvents : notTold;
    return {features.inTransaction ? "SELECT @@in_transaction AS mine" : byEvents, {}, {}, false};
}

} // namespace lockscope::recipes
