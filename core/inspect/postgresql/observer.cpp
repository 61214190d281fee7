// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/postgresql/observer.h"

#include "core/base/text.h"

#include <algorithm>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

// What can be said of a name that no snapshot has.
QString whyNoPgLock(const QByteArray &name, const PgLook &look, const std::vector<LockSnapshot> &snapshots)
{
    if (name.startsWith("ADVISORY"))
        return u"nobody holds or wants an advisory lock of this key in this database"_s;
    if (isLockRowName(name))
        return u"its row does not say that it is locked, or there is none"_s;
    const auto hash = name.indexOf('#');
    if (hash < 0 || look.keysUnread.isEmpty())
        return u"nobody waits for it, and of rows and tables only those that somebody waits for are shown"_s;
    QStringList places;
    for (const auto &one : snapshots) {
        if (one.lock.name.startsWith(name.left(hash) + "#ctid:") && places.size() < 3)
            places << label(one.lock.name, 80);
    }
    const auto maybe = places.isEmpty() ? QString() : u"; it may be "_s + places.join(u" or "_s);
    return u"rows that somebody waits for are named by their place for now, for their keys could not be read: "_s
           + look.keysUnread + maybe;
}

} // namespace

Task<Result<SqlObserver::Seen>> PostgreSqlObserver::look(Deadline deadline)
{
    auto looking = m_reader.look(deadline);
    const auto look = co_await looking;
    if (!look)
        co_return look.error();
    Seen seen;
    seen.snapshots = judged(snapshotsOf(*look, name()));
    seen.sessions = sessionsOf(*look, seen.snapshots, name());
    seen.now = seen.showedAllNamed = look->now;
    m_unexplained = unexplainedPgWaits(*look, seen.snapshots);
    co_return seen;
}

Task<Result<LockSnapshot>> PostgreSqlObserver::readNow(QByteArray lock, Deadline deadline)
{
    if (isLockRowName(lock))
        m_reader.readLockRowsAnew();
    auto looking = m_reader.look(deadline);
    const auto look = co_await looking;
    if (!look)
        co_return look.error();
    auto snapshots = judged(snapshotsOf(*look, name()));
    m_unexplained = unexplainedPgWaits(*look, snapshots);
    const auto at = std::ranges::find(snapshots, lock, [](const LockSnapshot &one) { return one.lock.name; });
    if (at != snapshots.end())
        co_return std::move(*at);
    for (const auto &gap : m_reader.gaps()) {
        // Not "it is free" where it was not seen.
        if (isLockRowName(lock) && gap.contains("cannot be read"_L1))
            co_return Error{ErrorCode::Refused, gap, true};
    }
    const auto hint = whyNoPgLock(lock, *look, snapshots);
    co_return Error{ErrorCode::NoNode, u"no lock is seen at %1: %2"_s.arg(label(lock, 80), hint)};
}

QString PostgreSqlObserver::whatIsSeen() const
{
    return u"every advisory lock, every row, table or other lock that somebody waits for, and rows of "
           u"ShedLock's and Liquibase's tables in this database that say so; another row or a table that "
           u"nobody waits for is not shown"_s;
}

} // namespace lockscope::inspect
