// SPDX-License-Identifier: Apache-2.0
// The optimistic lock. Source: Kung and Robinson, "On Optimistic Methods for Concurrency Control"; the
// version column of every object-relational mapper.
//   1. SELECT version. It is the fencing token, and nobody is kept out by our having read it.
//   2. (The work, from what was read.)
//   3. To release, UPDATE … SET version = version + 1 WHERE version = what was read. One row changed: nobody
//      wrote meanwhile, and what is written under the new version is ours.
//   4. No row changed: a conflict. Somebody was faster, our work is stale, and nothing was written. Start
//      again at 1. It is counted, and after so many conflicts in a row we give up instead.
//
// Nothing waits and nothing is held, so nothing can be seen, lost or taken away. Under contention all but one
// of a round work in vain.
#include "core/recipes/mariadb/locks.h"

#include "core/base/text.h"

namespace lockscope::recipes {

namespace {

constexpr int mostConflicts = 100; // in a row: by then somebody ought to look at it

const QByteArray versionColumn("`version`");

} // namespace

VersionLock::VersionLock(mariadb::Session &session, const QByteArray &lock, RowName row)
    : LockBase(session.loop(), lock), m_session(&session), m_row(std::move(row))
{
}

Task<Result<Grant>> VersionLock::take(Deadline deadline)
{
    if (m_conflicts >= mostConflicts) {
        m_conflicts = 0;
        co_return Error{ErrorCode::BadVersion, u"gave up after %1 conflicts in a row"_s.arg(mostConflicts), true};
    }
    CO_TRY_VOID(co_await untilConnected(m_session, deadline));
    CO_TRY(const auto &version, co_await readVersion(deadline)); // 1
    m_version = version;
    co_return Grant{QByteArray::number(version), version, {}, m_conflicts};
}

Task<Result<qint64>> VersionLock::readVersion(Deadline deadline)
{
    const mariadb::Statement select{
        "SELECT * FROM " + m_row.quotedTable() + " WHERE " + m_row.condition(), m_row.values, {}, false};
    CO_TRY(const auto &row, co_await m_session->execute(select, answerBy(*m_session, deadline)));
    if (row.rows.empty())
        co_return Error{ErrorCode::NoRow, u"the row does not exist, so it has no version"_s};
    bool isNumber = false;
    const auto version = row.cell(0, "version").value_or(QByteArray()).toLongLong(&isNumber);
    if (!isNumber)
        co_return Error{ErrorCode::Unsupported, u"its column \"version\" holds no whole number"_s};
    const mariadb::Statement clock{ownClock, {}, {}, false};
    CO_TRY_VOID(co_await refuseOwnedRow(m_session, m_row, row, clock, deadline));
    co_return version;
}

Task<Result<void>> VersionLock::release(Deadline deadline)
{
    if (!m_version)
        co_return Error{ErrorCode::NotHeld, u"%1: no version was read, or it was written already"_s.arg(name())};
    const auto version = *std::exchange(m_version, std::nullopt);
    const auto what = name();
    const auto alive = self();
    const mariadb::Statement update{"UPDATE " + m_row.quotedTable() + " SET " + versionColumn + " = " + versionColumn
                                        + " + 1 WHERE " + m_row.condition() + " AND " + versionColumn + " = ?",
                                    m_row.values + QByteArrayList{QByteArray::number(version)},
                                    {},
                                    true};
    const auto written = co_await m_session->execute(update, answerBy(*m_session, deadline)); // 3
    if (!written)
        co_return Error{written.error().code, u"%1: %2"_s.arg(what, written.error().message)};
    const bool isConflict = written->affected == 0;
    const int conflicts = alive.expired() ? int(isConflict) : m_conflicts = isConflict ? m_conflicts + 1 : 0;
    if (isConflict) // 4
        co_return Error{
            ErrorCode::BadVersion,
            u"%1: conflict, another client wrote since version %2 was read. Nothing was written. Repeat the work from the current data (conflicts in a row: %3)"_s
                .arg(what, QString::number(version), QString::number(conflicts)),
            true};
    co_return Result<void>();
}

Task<Result<bool>> VersionLock::isStillMine(Deadline deadline)
{
    if (!m_version)
        co_return false;
    const auto mine = *m_version;
    const auto version = co_await readVersion(deadline);
    if (!version && version.error().code == ErrorCode::NoRow)
        co_return false;
    if (!version)
        co_return version.error();
    co_return *version == mine;
}

} // namespace lockscope::recipes
