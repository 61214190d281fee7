// SPDX-License-Identifier: Apache-2.0
// A row as a lock, with its owner and a time until when. Source: ShedLock, JdbcTemplateLockProvider with the
// database's time (docs/layouts.md, "MariaDB and MySQL").
//   1. UPDATE the row to our token and to now + lease, WHERE its time is over. A row changed: it is ours, for the
//      lease counted from before this was sent. The time is the server's; no client's clock is asked.
//   2. No row changed, and whether there is one is not known: INSERT it, free; go to 1.
//   3. Another has it: pause, a little at random, and go to 1. (ShedLock itself does not wait: it skips the run.)
//   4. The answer to 1 was lost: read whether the row says us.
//   5. While it is held, at every third of the lease, UPDATE its time, WHERE it says us and is not over.
//   6. To release, UPDATE its time to now, under the same condition. The row stays.
//
// Nobody has to clean up after a client that died: the next one looks at the time. Not fair, nobody is woken, no
// fencing token.
#include "core/recipes/mariadb/locks.h"

namespace lockscope::recipes {

using mariadb::Session;
using mariadb::Statement;

namespace {

const QByteArray serverNow("UTC_TIMESTAMP(3)");
const QByteArray serverNowAndLease("TIMESTAMPADD(MICROSECOND, ?, UTC_TIMESTAMP(3))");

QByteArray inMicroseconds(std::chrono::milliseconds span)
{
    return QByteArray::number(std::chrono::microseconds(span).count());
}

Statement taking(const RowClaim &claim, std::chrono::milliseconds ttl)
{
    return {"UPDATE " + claim.row.quotedTable() + " SET lock_until = " + serverNowAndLease
                + ", locked_at = " + serverNow + ", locked_by = ? WHERE name = ? AND lock_until <= " + serverNow,
            {inMicroseconds(ttl), claim.token, claim.row.name},
            {},
            true};
}

// As it stands there already: nothing changes.
Statement making(const LeasedRowName &row)
{
    return {"INSERT INTO " + row.quotedTable() + " (name, lock_until, locked_at, locked_by) VALUES (?, " + serverNow
                + ", " + serverNow + ", '') ON DUPLICATE KEY UPDATE name = name",
            {row.name},
            {},
            true};
}

// `until` begins with what it sets the time to; the parameters of that come first.
Statement changing(const RowClaim &claim, const QByteArray &until, QByteArrayList parameters)
{
    parameters << claim.row.name << claim.token;
    return {"UPDATE " + claim.row.quotedTable() + " SET lock_until = " + until
                + " WHERE name = ? AND locked_by = ? AND lock_until > " + serverNow,
            parameters,
            {},
            true};
}

Statement askingWhose(const RowClaim &claim)
{
    return {"SELECT COUNT(*) AS mine FROM " + claim.row.quotedTable()
                + " WHERE name = ? AND locked_by = ? AND lock_until > " + serverNow,
            {claim.row.name, claim.token},
            {},
            false};
}

// A server counts a row as changed only if it says something else now: none changed need not mean that it is not
// ours.
Task<Result<bool>> prolong(Session *session, RowClaim claim, std::chrono::milliseconds ttl, Deadline deadline)
{
    auto extending = session->execute(changing(claim, serverNowAndLease, {inMicroseconds(ttl)}), deadline);
    CO_TRY(const auto &extended, co_await extending);
    if (extended.affected == 1)
        co_return true;
    const auto ours = co_await isRowOurs(session, askingWhose(claim), deadline);
    co_return ours;
}

// Whether the row is ours now. Relieves the guard when it certainly is not.
Task<Result<bool>> takeOnce(Session *session, RowClaim claim, std::chrono::milliseconds ttl, RowGuard *guard,
                            Deadline deadline)
{
    const auto updated = co_await session->execute(taking(claim, ttl), answerBy(*session, deadline));
    if (updated && updated->affected == 1)
        co_return true;
    if (!updated && isUncertain(updated.error()) && updated.error().code != ErrorCode::NotConnected) {
        auto ours = co_await whoseAtLast(session, askingWhose(claim), deadline); // 4
        co_return ours;
    }
    guard->dismiss();
    if (!updated && !isUncertain(updated.error()))
        co_return updated.error();
    co_return false;
}

// Whether there is a row now.
Task<Result<bool>> makeRow(Session *session, LeasedRowName row, Deadline deadline)
{
    const auto inserted = co_await session->execute(making(row), answerBy(*session, deadline));
    if (!inserted && !isUncertain(inserted.error()))
        co_return inserted.error();
    co_return bool(inserted);
}

} // namespace

LeasedRow::Held::Held(Session &session, RowClaim its, std::chrono::milliseconds ttl, Instant asked,
                      std::function<void(Loss)> onEnd)
    : claim(std::move(its)), life(
                                 session.loop(), ttl, asked,
                                 [&session, held = claim](std::chrono::milliseconds more, Deadline deadline) {
                                     return prolong(&session, held, more, deadline);
                                 },
                                 std::move(onEnd))
{
}

LeasedRow::LeasedRow(Session &session, const QByteArray &lock, LeasedRowName row, std::chrono::milliseconds ttl,
                     Random random)
    : RowLockBase(session, lock, std::move(row), std::move(random)), m_ttl(ttl)
{
}

Task<Result<Grant>> LeasedRow::poll(Deadline deadline)
{
    auto &loop = m_session->loop();
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_session, deadline));
        const RowClaim claim{m_row, uuidToken(m_random)};
        RowGuard guard(RowReturn{m_session, m_waitGroup, changing(claim, serverNow, {})});
        const auto asked = loop.now();
        CO_TRY(const auto &taken, co_await takeOnce(m_session, claim, m_ttl, &guard, deadline)); // 1
        if (taken && loop.now() < KeepAlive::validUntil(asked, m_ttl)) {
            guard.dismiss();
            m_isRowThere = true;
            m_held.emplace(*m_session, claim, m_ttl, asked, [this](Loss loss) { lose(loss); }); // 5
            co_return Grant{claim.token, std::nullopt, {}};
        }
        if (!taken && !m_isRowThere) {
            CO_TRY(const auto &made, co_await makeRow(m_session, m_row, deadline)); // 2
            m_isRowThere = made;
            if (m_isRowThere)
                continue;
        }
        if (deadline.hasPassed(loop))
            co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
        co_await pauseBetweenTries(loop, m_random, deadline); // 3
    }
}

Task<Result<void>> LeasedRow::release(Deadline deadline)
{
    const bool wasHeld = isHeld();
    if (!wasHeld) {
        letGo();
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    }
    const RowClaim claim = m_held->claim;
    m_held.reset();
    auto freeing = freeRow(m_session, m_waitGroup, changing(claim, serverNow, {}), name(), deadline); // 6
    auto freed = co_await freeing;
    co_return freed;
}

Task<Result<bool>> LeasedRow::isStillMine(Deadline deadline)
{
    if (!m_held)
        co_return false;
    const auto ours = co_await isRowOurs(m_session, askingWhose(m_held->claim), deadline);
    co_return ours;
}

void LeasedRow::letGo()
{
    if (!m_held)
        return;
    m_waitGroup.add(m_session->background(), giveBackRow(m_session, changing(m_held->claim, serverNow, {})));
    m_held.reset();
}

} // namespace lockscope::recipes
