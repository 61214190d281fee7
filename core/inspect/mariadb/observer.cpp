// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/mariadb/observer.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::inspect {

namespace {

// Ages of waits are measured anew at each look, a little off.
void steadyWaits(LockSnapshot &newer, const LockSnapshot &older)
{
    for (auto &contender : newer.contenders) {
        const auto *before = older.find(contender.id);
        const bool isSame = before && before->role == contender.role && before->guard == contender.guard;
        if (isSame && before->waitingSince && contender.waitingSince
            && std::chrono::abs(*before->waitingSince - *contender.waitingSince) < 1s)
            contender.waitingSince = before->waitingSince;
    }
}

} // namespace

// The first snapshot, and an only one, is worth some patience with a copy that is old.
Task<Result<SqlObserver::Seen>> MariaDbObserver::look(Deadline deadline)
{
    const bool isFirst = !firstSnapshot().isComplete();
    auto looking = isFirst ? m_reader.freshLook(deadline) : m_reader.look(deadline);
    CO_TRY(const auto &look, co_await looking);
    Seen seen;
    seen.snapshots = steadied(snapshotsOf(look, name()));
    seen.sessions = sessionsOf(look, seen.snapshots, name());
    m_unexplained = unexplainedWaits(look, seen.snapshots);
    if (!seen.snapshots.empty())
        seen.now = seen.snapshots.front().observed;
    // Without its list of named locks a server shows only those that somebody waits for.
    if (m_reader.gaps().empty())
        seen.showedAllNamed = look.now;
    co_return seen;
}

Task<Result<LockSnapshot>> MariaDbObserver::readNow(QByteArray lock, Deadline deadline)
{
    const QByteArray namedPrefix("GET_LOCK#");
    const bool isNamed = lock.startsWith(namedPrefix);
    const bool isTable = objectOfLock(lock).has_value();
    const bool isLockRow = isLockRowName(lock);
    if (isLockRow)
        m_reader.readLockRowsAnew();
    const auto also = isNamed ? lock.mid(namedPrefix.size()) : QByteArray();
    // Named locks are told as they are; rows from a copy. That nobody waits for a row is worth more patience with it,
    // and so is a table that a statement has just got: a server shows its client at rest after that has the answer.
    bool mayBeOld = false;
    for (int i = 0; i < (isNamed ? 1 : 2); ++i) {
        auto looking = isNamed ? m_reader.look(deadline, also) : m_reader.freshLook(deadline);
        CO_TRY(const auto &look, co_await looking);
        auto snapshots = steadied(snapshotsOf(look, name()));
        m_unexplained = unexplainedWaits(look, snapshots);
        const auto at = std::ranges::find(snapshots, lock, [](const LockSnapshot &one) { return one.lock.name; });
        if (at != snapshots.end())
            co_return std::move(*at);
        mayBeOld = !isNamed && !isTable && !isLockRow && !look.rowsAreFresh;
        const bool isHad = isTable && std::ranges::any_of(look.tableLocks, [&](const SqlTableLock &one) {
                               return objectLockName({one.type, one.schema, one.table}) == lock;
                           });
        if (!mayBeOld && !isHad)
            break;
    }
    if (isLockRow && !m_reader.lockRowsNotRead().isEmpty())
        co_return Error{ErrorCode::NoPermission, m_reader.lockRowsNotRead().front()};
    if (!isLockRow && !isNamed && !isTable && !m_reader.rowLocksGap().isEmpty())
        co_return Error{ErrorCode::NoPermission, m_reader.rowLocksGap()};
    if (mayBeOld)
        co_return Error{ErrorCode::Refused,
                        u"it is unknown whether a client holds %1: %2"_s.arg(label(lock, 80), oldRowsText()), true};
    const auto hint = isNamed     ? u"no client holds or waits for a lock of this name"_s
                      : isLockRow ? u"its row does not say that it is locked, or there is none"_s
                      : isTable
                          ? u"no client waits for it, and no client is seen to lock it"_s
                          : u"no client waits for it, and a server shows a row lock only while a client waits"_s;
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(lock, 80), hint)};
}

QString MariaDbObserver::oldRowsText() const
{
    return u"row locks %1 may be old: another client, or another Lockscope, reads INNODB_TRX more often than "
           u"every 100 ms. The server refreshes its copy only between such reads"_s.arg(m_reader.ageOfRows());
}

std::vector<LockSnapshot> MariaDbObserver::steadied(std::vector<LockSnapshot> snapshots) const
{
    for (auto &snapshot : snapshots) {
        if (const auto *before = known().find(snapshot.lock.name))
            steadyWaits(snapshot, *before);
    }
    return judged(std::move(snapshots));
}

SqlObserver::Looks MariaDbObserver::looks() const
{
    auto gaps = m_reader.gaps();
    if (m_reader.hasLooked() && !m_reader.rowsAreFresh())
        gaps << oldRowsText();
    return {m_reader.hasLooked(), m_reader.requests(), gaps, m_reader.lockTablesNotRead(), m_reader.endedDeadlocks()};
}

QString MariaDbObserver::coverageDescription() const
{
    return u"every named lock and every row lock with a waiter. Tables that a client waits for or that are locked "
           u"for writing (LOCK TABLES). Server-wide locks (FLUSH TABLES WITH READ LOCK, backups). The rows of known "
           u"clients' lock tables (Liquibase, ShedLock, Knex, Laravel and others). Row locks without a waiter are "
           u"not visible, and other lock tables are not searched"_s;
}

} // namespace lockscope::inspect
