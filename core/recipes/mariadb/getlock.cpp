// SPDX-License-Identifier: Apache-2.0
// The named lock. Source: MariaDB documentation, "GET_LOCK" and "RELEASE_LOCK".
//   1. SELECT GET_LOCK(name, seconds left). If another connection has the name, the server queues us,
//      first come first served, and answers 1 when it is ours, 0 when the time was over.
//   2. NULL: somebody ended the wait (KILL QUERY). Named locks have deadlocks, too: an error of its own.
//   3. To give it back, SELECT RELEASE_LOCK(name). 0 or NULL: it was not ours.
// When that is done: sqllock.cpp.
//
// COMMIT does not release it; the end of the connection does, so a lost reply needs no question. It is not
// replicated: each server has its own. MariaDB compares names byte by byte, MySQL does not mind case. No
// fencing token.
#include "core/recipes/mariadb/locks.h"

namespace lockscope::recipes {

namespace {

// "0.25"; a year when there is no limit (a negative number would be no lock at all on MariaDB).
QByteArray secondsLeft(const Loop &loop, Deadline deadline)
{
    constexpr std::chrono::hours longest(24 * 365);
    const auto left = std::min<Duration>(deadline.remaining(loop), longest);
    return QByteArray::number(std::chrono::duration<double>(left).count(), 'f', 3);
}

// For a server that knows whole seconds only: no sooner than the deadline, which ours ends.
QByteArray wholeSecondsLeft(const Loop &loop, Deadline deadline)
{
    return QByteArray::number(qint64(std::chrono::ceil<std::chrono::seconds>(deadline.remaining(loop)).count()));
}

} // namespace

GetLockLock::GetLockLock(mariadb::Session &session, const QByteArray &lock, QByteArray name)
    : NamedLock(session, lock), m_name(std::move(name))
{
}

Task<Result<bool>> GetLockLock::ask(mariadb::ConnectionId connection, Deadline deadline)
{
    constexpr auto tooSoon = 20ms;
    auto &loop = session().loop();
    for (bool isTooSoon = false;;) {
        const auto seconds = isTooSoon ? wholeSecondsLeft(loop, deadline) : secondsLeft(loop, deadline);
        const mariadb::Statement question{"SELECT GET_LOCK(?, ?) AS mine", {m_name, seconds}, connection, false};
        // The server keeps the time; ours only ends what it forgot.
        const auto grace = isTooSoon ? 0ms : 500ms;
        const auto latest =
            deadline.isNever() ? deadline : Deadline::at(std::max(deadline.when(), loop.now()) + grace);
        CO_TRY(const auto &answer, co_await session().execute(question, latest));
        const auto mine = answer.cell(0, "mine");
        if (!mine) // 2
            co_return Error{ErrorCode::Cancelled, u"the server ended the wait (NULL): KILL QUERY, or out of memory"_s,
                            true};
        // MySQL rounds: of 10.3 s it waits 10, of 0.3 none.
        isTooSoon = !deadline.isNever() && deadline.remaining(loop) > tooSoon;
        if (*mine == "1" || (!deadline.isNever() && !isTooSoon))
            co_return *mine == "1";
    }
}

mariadb::Statement GetLockLock::ownershipQuery() const
{
    return {"SELECT IS_USED_LOCK(?) = CONNECTION_ID() AS mine", {m_name}, {}, false};
}

Undo GetLockLock::undoing(mariadb::ConnectionId connection) const
{
    return {&session(), connection, "SELECT RELEASE_LOCK(?) AS again", {m_name}};
}

} // namespace lockscope::recipes
