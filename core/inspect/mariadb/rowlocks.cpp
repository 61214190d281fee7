// SPDX-License-Identifier: Apache-2.0
// From rows that are locks by what stands in them to snapshots.
#include "core/inspect/mariadb/pollindex.h"
#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/rules/contenderid.h"

namespace lockscope::inspect {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

qint64 millisOf(const std::optional<ServerTime> &moment)
{
    return moment ? qint64(moment->time_since_epoch().count()) : 0;
}

} // namespace

LockSnapshot lockOfRow(const SqlLockRow &row, LockSnapshot lock)
{
    const auto &layout = *row.layout;
    lock.recipe = (lock.backend == BackendKind::PostgreSql ? "pg-" : "sql-") + layout.recipe;
    // ShedLock writes its host's name; a token is somebody's who speaks its layout, as our own recipe does.
    const bool isOurs = layout.release == recipes::RowRelease::EndTime && isUuid36(row.lockedBy);
    const bool isToken = isOurs || (layout.isOwnerToken && !row.lockedBy.isEmpty());
    // Other rows than Liquibase's own are of programs that use its layout, such as Keycloak.
    if (!isOurs && (layout.only.isEmpty() || row.names == QByteArrayList{layout.only})) {
        lock.client = layout.client;
        lock.clientTraits.notices = layout.notices;
    }
    lock.why = layout.why;
    if (layout.isSinceRenewed && !row.stamp.isEmpty())
        lock.why += u" (%1 = %2)"_s.arg(label(layout.since.toUpper(), 60), label(row.stamp, 60));
    if (row.isZoneUnclear) {
        lock.why += u"; whether that is UTC or another zone's time nothing says, so that it may be over"_s;
        lock.confidence = Confidence::Medium;
    }
    lock.waitersKnown = false; // they ask again and again
    lock.state = LockState::Held;
    Contender holder;
    holder.role = Role::Holder;
    holder.position = 0;
    const bool isNamed = !row.lockedBy.isEmpty();
    holder.identity = isNamed ? row.lockedBy : QByteArray("holder unknown; the row does not name it");
    holder.id =
        isToken ? row.lockedBy
                : recipes::constantContenderId(isNamed ? row.lockedBy : QByteArray("unknown"), millisOf(row.since));
    if (row.since && !layout.isSinceRenewed && *row.since <= lock.observed + 1s)
        holder.heldSince = std::min(*row.since, lock.observed);
    holder.expiresAt = row.ends;
    holder.guard = RowIdentity{.lockedBy = row.lockedBy, .stamp = row.stamp};
    lock.contenders.push_back(std::move(holder));
    return lock;
}

void addLockRows(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked, const ConnectionName &connection)
{
    std::set<QByteArray> names; // a server may say anything twice
    for (const auto &row : looked.look().lockRows) {
        const auto name = lockRowName(row);
        if (names.insert(name).second)
            snapshots.push_back(lockOfRow(row, emptySqlLock(looked.look(), connection, name)));
    }
}

} // namespace lockscope::inspect
