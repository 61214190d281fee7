// SPDX-License-Identifier: Apache-2.0
// The advisory lock of a session. Source: PostgreSQL documentation, "Advisory Locks" and "Advisory Lock Functions".
//   1. SELECT pg_advisory_lock(key), or of two keys. If another session has it, the server queues us, first come
//      first served, and answers when it is ours. Without time to wait: pg_try_advisory_lock.
//   2. A wait ends by pg_cancel_backend, ours at the deadline or somebody else's. It may come when the lock is ours
//      already: that stays, whatever becomes of the statement.
//   3. So, whatever went wrong: pg_advisory_unlock, so that an attempt that failed holds nothing.
//   4. Who holds it gets it again at once, and has to release it as often.
//   5. To release, pg_advisory_unlock(key). False: it was not ours.
//
// It outlives transactions; the end of the connection ends it, so a lost reply needs no question. Each database has
// its own. No fencing token.
#include "core/recipes/postgresql/advisory.h"

#include "core/recipes/mariadb/waiting.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;

AdvisoryLock::AdvisoryLock(mariadb::Session &session, const QByteArray &lock, AdvisoryName name)
    : SqlLock(session, lock), m_name(std::move(name)), m_places(m_name.keys.size() == 1 ? "?" : "?, ?")
{
}

Task<Result<Grant>> AdvisoryLock::takeOn(mariadb::ConnectionId connection, Deadline deadline)
{
    UndoGuard guard(waitGroup(), undoing(connection));    // 3
    const auto got = co_await lock(connection, deadline); // 1
    if (!got)
        co_return got.error();
    guard.keep();
    m_count = 1;
    co_return holdOn(connection);
}

Task<Result<Grant>> AdvisoryLock::reenter(Deadline deadline)
{
    const auto connection = session().connectionId();
    const auto got = co_await lock(connection, deadline); // 4
    if (!got)
        co_return got.error();
    ++m_count;
    co_return holdOn(connection);
}

Task<Result<void>> AdvisoryLock::lock(mariadb::ConnectionId connection, Deadline deadline)
{
    if (deadline.hasPassed(session().loop())) {
        const mariadb::Statement once{"SELECT pg_try_advisory_lock(" + m_places + ")::int AS mine", m_name.keys,
                                      connection, false};
        auto asking = session().execute(once, answerBy(session(), deadline));
        const auto answer = co_await asking;
        if (!answer)
            co_return answer.error();
        if (answer->cell(0, "mine") != QByteArray("1"))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_return Result<void>();
    }
    const mariadb::Statement waiting{"SELECT pg_advisory_lock(" + m_places + ")::text AS mine", m_name.keys,
                                     connection, false};
    auto asking = session().execute(waiting, deadline);
    const auto answer = co_await asking;
    if (!answer && answer.error().code == ErrorCode::TimedOut)
        co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
    if (!answer) // 2
        co_return answer.error();
    co_return Result<void>();
}

Task<Result<void>> AdvisoryLock::release(Deadline deadline)
{
    if (!isHeld()) {
        forget();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const auto what = name();
    const auto connection = session().connectionId();
    std::optional<UndoGuard> guard; // should there be no answer
    if (--m_count == 0) {
        forget();
        guard.emplace(waitGroup(), undoing(connection));
    }
    const auto statement = undoing(connection);
    auto releasing = session().execute({statement.text, statement.parameters, connection, false},
                                       answerBy(session(), deadline)); // 5
    const auto released = co_await releasing;
    if (!released && released.error().code == ErrorCode::SessionExpired)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more: %2"_s.arg(what, released.error().message)};
    if (!released)
        co_return Error{released.error().code,
                        u"%1 may still be held, it is being given back in the background: %2"_s.arg(
                            what, released.error().message)};
    if (guard)
        guard->keep();
    if (released->cell(0, "again") != QByteArray("1"))
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Result<void>();
}

mariadb::Statement AdvisoryLock::whetherMine() const
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
