// SPDX-License-Identifier: Apache-2.0
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
#include "core/recipes/mariadb/locks.h"

#include "core/async/sleep.h"
#include "core/base/identifiers.h"

namespace lockscope::recipes {

using mariadb::Rows;
using mariadb::Statement;

namespace {

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

} // namespace

Task<Result<Grant>> FlagLock::poll(Deadline deadline)
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

Task<Result<FlagLock::Seen>> FlagLock::look(Deadline deadline)
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
        co_return Error{ErrorCode::Unsupported,
                        u"it must be exactly one row with a whole number as \"version\" and 0 or 1 as \"status\""_s};
    co_return Seen{version, status == "1"};
}

// Whether the flag is ours now.
Task<Result<bool>> FlagLock::setOnce(qint64 version, Deadline deadline)
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

Task<Result<void>> FlagLock::findNotOurs(qint64 version, Deadline deadline)
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

Task<Result<void>> FlagLock::release(Deadline deadline)
{
    if (!m_version)
        co_return Error{ErrorCode::NotHeld, u"%1 is not held by us"_s.arg(name())};
    const auto version = *std::exchange(m_version, std::nullopt);
    auto freed = co_await freeRow(m_session, m_waitGroup, clearingFlag(m_row, version), name(), deadline); // 5
    co_return freed;
}

Task<Result<bool>> FlagLock::isStillMine(Deadline deadline)
{
    if (!m_version)
        co_return false;
    const auto mine = *m_version;
    CO_TRY(const auto &seen, co_await look(deadline));
    const bool isOurs = seen.isSet && seen.version == mine;
    co_return isOurs;
}

void FlagLock::letGo()
{
    if (m_version)
        m_waitGroup.add(m_session->background(), giveBackRow(m_session, clearingFlag(m_row, *m_version)));
    m_version.reset();
}

} // namespace lockscope::recipes
