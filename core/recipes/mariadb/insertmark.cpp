// SPDX-License-Identifier: Apache-2.0
// A row that is there while the lock is held. Source: the scheme that introductions to distributed locks begin with:
// who inserts the mark has the lock, and deletes it (docs/layouts.md, "MariaDB and MySQL").
//   1. INSERT the mark, with a token that nobody else has. It went in: the lock is ours. The table's primary key, the
//      name, lets in one.
//   2. There is one already (1062), or we were the victim of a deadlock with others who insert: pause, a little at
//      random, and go to 1.
//   3. The answer to 1 was lost: read whether the mark there is ours.
//   4. To release, DELETE the mark, if it is ours.
//
// Nothing ends it: of a client that died the mark stays until somebody deletes it. That is often left to a
// supervisor, which deletes what is older than a limit and cannot know whether its client still works. Not fair,
// nobody is woken, no fencing token.
#include "core/recipes/mariadb/locks.h"

namespace lockscope::recipes {

using mariadb::Statement;

namespace {

// Not lasting, although a mark stays: so whoever gives up on the answer kills the connection. An INSERT that comes
// behind our DELETE would stay for good.
Statement inserting(const RowClaim &claim)
{
    return {"INSERT INTO " + claim.row.quotedTable() + " (name, owner, created_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
            {claim.row.name, claim.token},
            {},
            false};
}

Statement deleting(const RowClaim &claim)
{
    return {"DELETE FROM " + claim.row.quotedTable() + " WHERE name = ? AND owner = ?",
            {claim.row.name, claim.token},
            {},
            true};
}

Statement askingWhoseMark(const RowClaim &claim)
{
    return {"SELECT COUNT(*) AS mine FROM " + claim.row.quotedTable() + " WHERE name = ? AND owner = ?",
            {claim.row.name, claim.token},
            {},
            false};
}

// Whether the mark is ours now. Relieves the guard when it certainly is not.
Task<Result<bool>> insertOnce(mariadb::Session *session, RowClaim claim, RowGuard *guard, Deadline deadline)
{
    const auto inserted = co_await session->execute(inserting(claim), answerBy(*session, deadline));
    if (inserted && inserted->affected == 1)
        co_return true;
    if (!inserted && isUncertain(inserted.error()) && inserted.error().code != ErrorCode::NotConnected) {
        auto ours = co_await whoseAtLast(session, askingWhoseMark(claim), deadline); // 3
        co_return ours;
    }
    guard->dismiss();
    const auto code = inserted ? ErrorCode::NodeExists : inserted.error().code;
    const bool mayTryAgain = code == ErrorCode::NodeExists || code == ErrorCode::DeadlockVictim; // 2
    if (!mayTryAgain && code != ErrorCode::NotConnected)
        co_return inserted.error();
    co_return false;
}

} // namespace

Task<Result<Grant>> MarkLock::poll(Deadline deadline)
{
    auto &loop = m_session->loop();
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_session, deadline));
        const RowClaim claim{m_row, uuidToken(m_random)};
        RowGuard guard(RowReturn{m_session, m_waitGroup, deleting(claim)});
        CO_TRY(const auto &taken, co_await insertOnce(m_session, claim, &guard, deadline)); // 1
        if (taken) {
            guard.dismiss();
            m_held = claim;
            co_return Grant{claim.token, std::nullopt, {}};
        }
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_await pauseBetweenTries(loop, m_random, deadline); // 2
    }
}

Task<Result<void>> MarkLock::release(Deadline deadline)
{
    if (!m_held)
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    const RowClaim claim = *std::exchange(m_held, std::nullopt);
    auto freed = co_await freeRow(m_session, m_waitGroup, deleting(claim), name(), deadline); // 4
    co_return freed;
}

Task<Result<bool>> MarkLock::isStillMine(Deadline deadline)
{
    if (!m_held)
        co_return false;
    const auto ours = co_await isRowOurs(m_session, askingWhoseMark(*m_held), deadline);
    co_return ours;
}

void MarkLock::letGo()
{
    if (m_held)
        m_waitGroup.add(m_session->background(), giveBackRow(m_session, deleting(*m_held)));
    m_held.reset();
}

} // namespace lockscope::recipes
