// SPDX-License-Identifier: Apache-2.0
// From rows that are locks by what stands in them to snapshots.
#include "core/inspect/mariadb/pollindex.h"
#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"
#include "core/rules/contenderid.h"

#include <QRegularExpression>

#include <algorithm>

namespace lockscope::inspect {

namespace {

qint64 millisOf(const std::optional<ServerTime> &moment)
{
    return moment ? qint64(moment->time_since_epoch().count()) : 0;
}

} // namespace

LockSnapshot lockOfRow(const SqlLockRow &row, LockSnapshot lock)
{
    const auto &layout = *row.layout;
    // Of our recipes for MariaDB and MySQL there are none for PostgreSQL: there it is a row like others.
    const QByteArray family = lock.backend == BackendKind::PostgreSql ? "pg-" : "sql-";
    lock.recipe = recipes::findRecipe(family + layout.recipe) ? family + layout.recipe : family + "row-lock";
    // ShedLock writes its host's name; a token is somebody's who speaks its layout, as our own recipe does.
    const bool isOurs = layout.release == recipes::RowRelease::EndTime && isUuid36(row.lockedBy);
    const bool isToken = isOurs || (layout.isOwnerToken && !row.lockedBy.isEmpty());
    // Other rows than Liquibase's own are of programs that use its layout, such as Keycloak.
    if (!isOurs && !layout.client.isEmpty() && (layout.only.isEmpty() || row.names == QByteArrayList{layout.only})) {
        lock.client = layout.client;
        lock.clientTraits.notices = layout.notices;
    }
    lock.why = layout.why;
    if (layout.isSinceRenewed && !row.stamp.isEmpty())
        lock.why += u" (%1 = %2)"_s.arg(label(layout.since.toUpper(), 60), label(row.stamp, 60));
    if (row.isZoneUnclear) {
        lock.why += clause(u"it may be over: nothing says whether that is UTC or another zone's time"_s);
        lock.confidence = Confidence::Medium;
    }
    lock.waitersKnown = false; // they ask again and again
    lock.state = LockState::Held;
    Contender holder;
    holder.role = Role::Holder;
    holder.position = 0;
    const bool isNamed = !row.lockedBy.isEmpty() && !layout.isOwnerNumber;
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

void addHolderConnections(LockSnapshot &lock, const QByteArrayList &addresses)
{
    // A client that is alive may be between two connections, but not for so long.
    constexpr auto isOld = 10min;
    static const QRegularExpression form(u"(?<![0-9.])([0-9]{1,3}(?:\\.[0-9]{1,3}){3})(?![0-9.])"_s);
    const auto &holder = lock.contenders.front();
    const auto named = form.match(QString::fromLatin1(holder.identity.value_or(QByteArray())));
    const auto address = named.captured(1).toLatin1();
    // Names of hosts cannot be compared with an address.
    const auto isComparable = [](const QByteArray &one) {
        return one.isEmpty() || one == "localhost" || form.match(QString::fromLatin1(one)).hasMatch();
    };
    if (address.isEmpty() || !std::ranges::all_of(addresses, isComparable))
        return;
    const auto where = QString::fromLatin1(address);
    if (addresses.contains(address)) {
        lock.why += clause(u"connections from %1 are open"_s.arg(where));
        return;
    }
    const auto none =
        u"no connection from %1 is open; behind NAT or a pool of connections this proves nothing"_s.arg(where);
    lock.why += clause(none);
    if (holder.heldSince && lock.observed - *holder.heldSince >= isOld)
        addFinding(lock, FindingCode::HolderDisconnected, none, {holder.id});
}

void addLockRows(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked, const ConnectionName &connection)
{
    QByteArrayList addresses;
    for (const auto &process : looked.look().processes)
        addresses << process.host.left(process.host.lastIndexOf(':'));
    std::set<QByteArray> names; // a server may say anything twice
    for (const auto &row : looked.look().lockRows) {
        const auto name = lockRowName(row);
        if (!names.insert(name).second)
            continue;
        snapshots.push_back(lockOfRow(row, emptySqlLock(looked.look(), connection, name)));
        if (looked.look().seesAllProcesses && !addresses.isEmpty())
            addHolderConnections(snapshots.back(), addresses);
    }
}

} // namespace lockscope::inspect
