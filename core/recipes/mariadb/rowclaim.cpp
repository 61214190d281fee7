// SPDX-License-Identifier: Apache-2.0
#include "core/base/logging.h"
#include "core/base/text.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

using mariadb::Rows;
using mariadb::Session;
using mariadb::Statement;

bool isUncertain(const Error &error)
{
    return isConnectionError(error) || error.code == ErrorCode::TimedOut || error.code == ErrorCode::SessionExpired;
}

Task<Result<bool>> isRowOurs(Session *session, Statement asking, Deadline deadline)
{
    CO_TRY(const auto &answer, co_await session->execute(asking, deadline));
    co_return answer.cell(0, "mine") == QByteArray("1");
}

Task<Result<bool>> whoseAtLast(Session *session, Statement asking, Deadline deadline)
{
    for (;;) {
        CO_TRY_VOID(co_await untilConnected(session, deadline));
        const auto ours = co_await isRowOurs(session, asking, answerBy(*session, deadline));
        if (ours || !isUncertain(ours.error()))
            co_return ours;
        if (deadline.hasPassed(session->loop()))
            co_return Error{ErrorCode::TimedOut, u"timed out while it was not known whether the row is ours"_s, true};
        co_await sleepFor(session->loop(), pauseAfterTrouble);
    }
}

Task<bool> giveBackRow(Session *session, Statement freeing)
{
    const auto never = Deadline::never();
    for (;;) {
        const auto connected = co_await untilConnected(session, never);
        if (!connected)
            co_return false;
        const auto freed = co_await session->execute(freeing, answerBy(*session, never));
        if (freed)
            co_return true;
        if (!isUncertain(freed.error()) && freed.error().code != ErrorCode::DeadlockVictim) {
            qCWarning(logMariaDb).noquote()
                << "cannot release a row by" << label(freeing.text) << "-" << freed.error().message;
            co_return false;
        }
        co_await sleepFor(session->loop(), pauseAfterTrouble);
    }
}

Task<Result<void>> freeRow(Session *session, WaitGroup waitGroup, Statement freeing, QString what, Deadline deadline)
{
    RowGuard guard(RowReturn{session, std::move(waitGroup), freeing});
    const auto freed = co_await session->execute(freeing, answerBy(*session, deadline));
    if (!freed)
        co_return Error{freed.error().code, u"%1 may still be held and is being released in the background: %2"_s.arg(
                                                what, freed.error().message)};
    guard.dismiss();
    if (freed->affected < 1)
        co_return Error{ErrorCode::NotHeld, u"%1 was not ours any more"_s.arg(what)};
    co_return Result<void>();
}

namespace {

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

// sql-shedlock: a row that says who has it, and until when.
class LeasedRow final : public RowLockBase, public Leased {
public:
    // `ttl` at least 1 ms. The table has ShedLock's columns, times with milliseconds (TIMESTAMP(3)).
    LeasedRow(Session &session, const QByteArray &lock, LeasedRowName row, std::chrono::milliseconds ttl,
              Random random)
        : RowLockBase(session, lock, std::move(row), std::move(random)), m_ttl(ttl)
    {
    }
    ~LeasedRow() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override
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
    [[nodiscard]] Instant validUntil() const override { return m_held ? m_held->life.validUntil() : Instant(); }
    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_held)
            co_return false;
        const auto ours = co_await isRowOurs(m_session, askingWhose(m_held->claim), deadline);
        co_return ours;
    }

private:
    struct Held {
        Held(Session &session, RowClaim its, std::chrono::milliseconds ttl, Instant asked,
             std::function<void(Loss)> onEnd)
            : claim(std::move(its)), life(
                                         session.loop(), ttl, asked,
                                         [&session, held = claim](std::chrono::milliseconds more, Deadline deadline) {
                                             return prolong(&session, held, more, deadline);
                                         },
                                         std::move(onEnd))
        {
        }
        RowClaim claim;
        KeepAlive life;
    };

    Task<Result<Grant>> poll(Deadline deadline) override
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

    [[nodiscard]] bool isHeld() const override { return m_held && !m_held->life.isOver(); }
    void letGo() override
    {
        if (!m_held)
            return;
        m_waitGroup.add(m_session->background(), giveBackRow(m_session, changing(m_held->claim, serverNow, {})));
        m_held.reset();
    }

    std::chrono::milliseconds m_ttl;
    bool m_isRowThere = false; // certainly
    std::optional<Held> m_held;
};

// A flag in a row, set by compare and set. Source: the "optimistic" lock of introductions to distributed locks, a
// table with id, version and status (docs/layouts.md, "MariaDB and MySQL").
//   1. SELECT status, version. Status 1: taken; pause, a little at random, and go to 1.
//   2. Status 0: UPDATE it to 1 and the version to one more, WHERE the version is what was read (and, unlike the
//      source, the status still 0). A row changed: the lock is ours, and the new version is its fencing token.
//   3. No row changed: somebody was faster. Pause, and go to 1.
//   4. The answer to 2 was lost: read the row. Another version, or status 0: it is not ours; go to 1. The version
//      that we would have written, with status 1: ours, or of another who had read the same. Nobody can tell:
//      UnknownOutcome.
//   5. To release, UPDATE the status to 0, WHERE version and status are ours.
//
// Nothing ends it: who dies, or loses the answer to 2, may leave the flag set for ever. Not fair, nobody is woken.

// Not lasting, although a flag stays: so whoever gives up on the answer kills the connection, and it does not come
// late.
Statement settingFlag(const LeasedRowName &row, qint64 version)
{
    return {"UPDATE " + row.quotedTable()
                + " SET status = 1, version = version + 1 WHERE version = ? AND id = ? AND status = 0",
            {QByteArray::number(version), row.name},
            {},
            false};
}

Statement clearingFlag(const LeasedRowName &row, qint64 version)
{
    return {"UPDATE " + row.quotedTable() + " SET status = 0 WHERE id = ? AND version = ? AND status = 1",
            {row.name, QByteArray::number(version)},
            {},
            true};
}

// Nobody waits for the answer any more. If it says that the flag became ours, that is given back; without an answer
// nothing is, for it may be another's.
Task<bool> giveBackIfSet(mariadb::Session *session, Reply<Rows> setting, Statement clearing)
{
    const auto set = co_await setting;
    if (!set)
        co_return !isUncertain(set.error()) || set.error().code == ErrorCode::NotConnected;
    if (set->affected != 1)
        co_return true;
    const bool isGone = co_await giveBackRow(session, clearing);
    co_return isGone;
}

// sql-status-flag: a flag in a row, set by comparing its version.
class FlagLock final : public RowLockBase {
public:
    // The row is there; its table has the columns id, version and status. UnknownOutcome of acquire(): nobody can
    // tell whether the flag is ours, and nothing is given back.
    using RowLockBase::RowLockBase;
    ~FlagLock() override { shutDown(); }

    Task<Result<void>> release(Deadline deadline) override
    {
        if (!m_version)
            co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
        const auto version = *std::exchange(m_version, std::nullopt);
        auto freed = co_await freeRow(m_session, m_waitGroup, clearingFlag(m_row, version), name(), deadline); // 5
        co_return freed;
    }

    Task<Result<bool>> isStillMine(Deadline deadline) override
    {
        if (!m_version)
            co_return false;
        const auto mine = *m_version;
        CO_TRY(const auto &seen, co_await look(deadline));
        const bool isOurs = seen.isSet && seen.version == mine;
        co_return isOurs;
    }

private:
    struct Seen {
        qint64 version = 0;
        bool isSet = false;
    };

    Task<Result<Grant>> poll(Deadline deadline) override
    {
        auto &loop = m_session->loop();
        for (;;) {
            CO_TRY_VOID(co_await untilConnected(m_session, deadline));
            const auto seen = co_await look(answerBy(*m_session, deadline)); // 1
            if (!seen && !isUncertain(seen.error()))
                co_return seen.error();
            if (seen && !seen->isSet) {
                CO_TRY(const auto &isOurs, co_await setOnce(seen->version, deadline)); // 2
                if (isOurs)
                    co_return Grant{QByteArray::number(*m_version), *m_version, {}};
            }
            if (deadline.hasPassed(loop))
                co_return Error{ErrorCode::TimedOut, u"timed out waiting for its holder"_s, true};
            co_await pauseBetweenTries(loop, m_random, deadline); // 3
        }
    }

    Task<Result<Seen>> look(Deadline deadline)
    {
        const Statement select{
            "SELECT status, version FROM " + m_row.quotedTable() + " WHERE id = ?", {m_row.name}, {}, false};
        CO_TRY(const auto &row, co_await m_session->execute(select, deadline));
        if (row.rows.empty())
            co_return Error{ErrorCode::NoRow, u"the row does not exist, so no flag can be set"_s};
        const auto status = row.cell(0, "status").value_or(QByteArray());
        bool isNumber = false;
        const auto version = row.cell(0, "version").value_or(QByteArray()).toLongLong(&isNumber);
        if (row.rows.size() != 1 || !isNumber || (status != "0" && status != "1"))
            co_return Error{
                ErrorCode::Unsupported,
                u"it must be exactly one row with a whole number as \"version\" and 0 or 1 as \"status\""_s};
        co_return Seen{version, status == "1"};
    }

    // Whether the flag is ours now.
    Task<Result<bool>> setOnce(qint64 version, Deadline deadline)
    {
        auto setting = m_session->execute(settingFlag(m_row, version), answerBy(*m_session, deadline));
        // Stands for whoever waits for the answer.
        auto guard = qScopeGuard(
            [session = m_session, waitGroup = m_waitGroup, setting, clearing = clearingFlag(m_row, version + 1)] {
                waitGroup.add(session->background(), giveBackIfSet(session, setting, clearing));
            });
        const auto set = co_await setting;
        guard.dismiss();
        if (set) {
            if (set->affected == 1)
                m_version = version + 1;
            co_return set->affected == 1;
        }
        if (set.error().code == ErrorCode::NotConnected || set.error().code == ErrorCode::DeadlockVictim)
            co_return false;
        if (!isUncertain(set.error()))
            co_return set.error();
        CO_TRY_VOID(co_await findNotOurs(version, deadline)); // 4
        co_return false;
    }

    // After a lost answer. UnknownOutcome unless the flag is certainly not ours.
    Task<Result<void>> findNotOurs(qint64 version, Deadline deadline)
    {
        const Error unknown{
            ErrorCode::UnknownOutcome,
            u"outcome unknown: the reply was lost, and version %1 may belong to us or to another client. If it is ours, the flag stays set until a client sets status to 0"_s
                .arg(version + 1)};
        for (;;) {
            const auto connected = co_await untilConnected(m_session, deadline);
            if (!connected)
                co_return unknown;
            const auto seen = co_await look(answerBy(*m_session, deadline));
            if (seen && (!seen->isSet || seen->version != version + 1))
                co_return Result<void>();
            if (seen || !isUncertain(seen.error()) || deadline.hasPassed(m_session->loop()))
                co_return unknown;
            co_await sleepFor(m_session->loop(), pauseAfterTrouble);
        }
    }

    [[nodiscard]] bool isHeld() const override { return m_version.has_value(); }
    void letGo() override
    {
        if (m_version)
            m_waitGroup.add(m_session->background(), giveBackRow(m_session, clearingFlag(m_row, *m_version)));
        m_version.reset();
    }

    std::optional<qint64> m_version; // that we have written, and not cleared yet
};

} // namespace

Result<std::unique_ptr<Lock>> makeLeasedRow(Session &session, const QByteArray &lock, const AcquireOptions &options,
                                            Random random)
{
    TRY(auto &name, readLeasedRowName(lock));
    if (options.ttl.count() < 1)
        return Error{ErrorCode::BadInput, u"a lease needs a TTL of at least one millisecond"_s};
    return std::unique_ptr<Lock>(std::make_unique<LeasedRow>(session, lock, name, options.ttl, std::move(random)));
}

Result<std::unique_ptr<Lock>> makeFlagLock(Session &session, const QByteArray &lock, const AcquireOptions &,
                                           Random random)
{
    TRY(auto &name, readFlagName(lock));
    return std::unique_ptr<Lock>(std::make_unique<FlagLock>(session, lock, name, std::move(random)));
}

} // namespace lockscope::recipes
