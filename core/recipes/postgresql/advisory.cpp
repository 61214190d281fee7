// SPDX-License-Identifier: Apache-2.0
// The advisory lock of a session. Source: PostgreSQL documentation, "Advisory Locks" and "Advisory Lock Functions".
//   1. SELECT pg_advisory_lock(key), or of two keys. If another session has it, the server queues us, first come
//      first served, and answers when it is ours. Without time to wait: pg_try_advisory_lock.
//   2. A wait ends by pg_cancel_backend, ours at the deadline or somebody else's. It may come when the lock is ours
//      already: that stays, whatever becomes of the statement.
//   3. To give it back, pg_advisory_unlock(key). False: it was not ours.
// When that is done, whatever went wrong included: sqllock.cpp.
//
// It outlives transactions; the end of the connection ends it, so a lost reply needs no question. Each database has
// its own. No fencing token.
#include "core/recipes/postgresql/locks.h"

namespace lockscope::recipes {

AdvisoryLock::AdvisoryLock(mariadb::Session &session, const QByteArray &lock, AdvisoryName name)
    : NamedLock(session, lock), m_name(std::move(name)), m_places(m_name.keys.size() == 1 ? "?" : "?, ?")
{
}

Task<Result<bool>> AdvisoryLock::ask(mariadb::ConnectionId connection, Deadline deadline)
{
    if (deadline.hasPassed(session().loop())) {
        const mariadb::Statement once{"SELECT pg_try_advisory_lock(" + m_places + ")::int AS mine", m_name.keys,
                                      connection, false};
        CO_TRY(const auto &answer, co_await session().execute(once, answerBy(session(), deadline)));
        if (answer.cell(0, "mine") != QByteArray("1"))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_return true;
    }
    const mariadb::Statement waiting{"SELECT pg_advisory_lock(" + m_places + ")::text AS mine", m_name.keys,
                                     connection, false};
    const auto answer = co_await session().execute(waiting, deadline);
    if (!answer && answer.error().code == ErrorCode::TimedOut)
        co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
    if (!answer) // 2
        co_return answer.error();
    co_return true;
}

mariadb::Statement AdvisoryLock::ownershipQuery() const
{
    const QByteArray one = "classid = (? >> 32) & 4294967295 AND objid = ? & 4294967295 AND objsubid = 1";
    const QByteArray two = "classid = ?::bigint & 4294967295 AND objid = ?::bigint & 4294967295 AND objsubid = 2";
    const bool isOne = m_name.keys.size() == 1;
    const auto keys = isOne ? m_name.keys + m_name.keys : m_name.keys;
    return {"SELECT count(*) AS mine FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND "
            "pid = pg_backend_pid() AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = "
            "current_database()) AND "
                + (isOne ? QByteArray(one).replace("?", "?::bigint") : two),
            keys,
            {},
            false};
}

Undo AdvisoryLock::undoing(mariadb::ConnectionId connection) const
{
    return {&session(), connection, "SELECT pg_advisory_unlock(" + m_places + ")::int AS again", m_name.keys};
}

} // namespace lockscope::recipes
