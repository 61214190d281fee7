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

#include "core/async/sleep.h"
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/lockbase.h"
#include "core/recipes/token.h"

namespace lockscope::recipes {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
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

// Nobody knows whether the server has done it; or it can be asked again on the next connection.
bool isUncertain(const Error &error)
{
    return isConnectionError(error) || error.code == ErrorCode::TimedOut || error.code == ErrorCode::SessionExpired;
}

Task<Result<bool>> isRowOurs(Session *session, RowClaim claim, Deadline deadline)
{
    auto asking = session->execute(askingWhose(claim), deadline);
    CO_TRY(const auto &answer, co_await asking);
    co_return answer.cell(0, "mine") == QByteArray("1");
}

// Keeps asking over broken connections until the deadline.
Task<Result<bool>> whoseAtLast(Session *session, RowClaim claim, Deadline deadline)
{
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(session, deadline));
        const auto ours = co_await isRowOurs(session, claim, answerBy(*session, deadline));
        if (ours || !isUncertain(ours.error()))
            co_return ours;
        if (deadline.hasPassed(session->loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while it was not known whether the row is ours"_s, true};
        auto pause = sleepFor(session->loop(), pauseAfterTrouble);
        co_await pause;
    }
}

// A server counts a row as changed only if it says something else now: none changed need not mean that it is not
// ours.
Task<Result<bool>> prolong(Session *session, RowClaim claim, std::chrono::milliseconds ttl, Deadline deadline)
{
    auto extending = session->execute(changing(claim, serverNowAndLease, {inMicroseconds(ttl)}), deadline);
    CO_TRY(const auto &extended, co_await extending);
    if (extended.affected == 1)
        co_return true;
    const auto ours = co_await isRowOurs(session, claim, deadline);
    co_return ours;
}

// True when the row certainly does not say us, or its time is over.
Task<bool> giveBack(Session *session, RowClaim claim)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(session, never);
        if (!connected)
            co_return false;
        auto freeing = session->execute(changing(claim, serverNow, {}), answerBy(*session, never));
        const auto freed = co_await freeing;
        if (freed)
            co_return true;
        if (!isUncertain(freed.error())) {
            qCWarning(logMariaDb).noquote() << "cannot give back the row" << label(claim.row.name) << "-"
                                            << freed.error().message << "- it is free when its time is over";
            co_return false;
        }
        auto pause = sleepFor(session->loop(), pauseAfterTrouble);
        co_await pause;
    }
}

// An UPDATE is out: unless somebody says that the row is not ours, or keeps it, it is given back when this goes.
class ClaimGuard {
public:
    ClaimGuard(Session *session, WaitGroup waitGroup, RowClaim claim)
        : m_session(session), m_waitGroup(std::move(waitGroup)), m_claim(std::move(claim))
    {
    }
    ClaimGuard(const ClaimGuard &) = delete;
    ClaimGuard &operator=(const ClaimGuard &) = delete;
    ~ClaimGuard()
    {
        if (!m_isForgotten)
            m_waitGroup.add(m_session->background(), giveBack(m_session, m_claim));
    }
    void forget() { m_isForgotten = true; }

private:
    Session *m_session;
    WaitGroup m_waitGroup;
    RowClaim m_claim;
    bool m_isForgotten = false;
};

// Whether the row is ours now. Relieves the guard when it certainly is not.
Task<Result<bool>> takeOnce(Session *session, RowClaim claim, std::chrono::milliseconds ttl, ClaimGuard *guard,
                            Deadline deadline)
{
    auto updating = session->execute(taking(claim, ttl), answerBy(*session, deadline));
    const auto updated = co_await updating;
    if (updated && updated->affected == 1)
        co_return true;
    if (!updated && isUncertain(updated.error()) && updated.error().code != ErrorCode::NotConnected) {
        auto ours = co_await whoseAtLast(session, claim, deadline); // 4
        co_return ours;
    }
    guard->forget();
    if (!updated && !isUncertain(updated.error()))
        co_return updated.error();
    co_return false;
}

// Whether there is a row now.
Task<Result<bool>> makeRow(Session *session, LeasedRowName row, Deadline deadline)
{
    auto inserting = session->execute(making(row), answerBy(*session, deadline));
    const auto inserted = co_await inserting;
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
    : LockBase(session.loop(), lock), m_session(&session), m_row(std::move(row)), m_ttl(ttl),
      m_random(std::move(random)), m_waitGroup(session.loop())
{
}

Task<Result<Grant>> LeasedRow::take(Deadline deadline)
{
    auto taken = co_await poll(deadline);
    if (taken)
        co_return taken;
    Error why = taken.error();
    auto cleaned = m_waitGroup.finished(answerBy(*m_session, Deadline::at(m_session->loop().now())));
    const bool isClean = co_await cleaned;
    if (!isClean && why.code == ErrorCode::TimedOut) {
        why.code = ErrorCode::UnknownOutcome;
        why.message += u"; it may have become ours too late, it is being given back in the background"_s;
    }
    co_return why;
}

Task<Result<Grant>> LeasedRow::poll(Deadline deadline)
{
    auto &loop = m_session->loop();
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(m_session, deadline));
        const RowClaim claim{m_row, uuidToken(m_random)};
        ClaimGuard guard(m_session, m_waitGroup, claim);
        const auto asked = loop.now();
        CO_TRY(const auto &taken, co_await takeOnce(m_session, claim, m_ttl, &guard, deadline)); // 1
        if (taken && loop.now() < KeepAlive::validUntil(asked, m_ttl)) {
            guard.forget();
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
        auto pause = pauseBetweenTries(loop, m_random, deadline); // 3
        co_await pause;
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
    const auto what = name();
    ClaimGuard guard(m_session, m_waitGroup, claim); // if there is no answer, or nobody to hear it
    auto freeing = m_session->execute(changing(claim, serverNow, {}), answerBy(*m_session, deadline)); // 6
    const auto freed = co_await freeing;
    if (!freed)
        co_return Error{
            freed.error().code,
            u"%1 may still be held, it is being given back in the background: %2"_s.arg(what, freed.error().message)};
    guard.forget();
    if (freed->affected < 1)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Result<void>();
}

Task<Result<bool>> LeasedRow::isStillMine(Deadline deadline)
{
    if (!m_held)
        co_return false;
    const auto ours = co_await isRowOurs(m_session, m_held->claim, deadline);
    co_return ours;
}

void LeasedRow::letGo()
{
    if (!m_held)
        return;
    m_waitGroup.add(m_session->background(), giveBack(m_session, m_held->claim));
    m_held.reset();
}

} // namespace lockscope::recipes
