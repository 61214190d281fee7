// SPDX-License-Identifier: Apache-2.0
// From rows that are locks by what stands in them to snapshots.
#include "core/inspect/mariadb/pollindex.h"
#include "core/base/duration.h"
#include "core/base/endpoint.h"
#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/rules/catalogue.h"
#include "core/rules/contenderid.h"

#include <QHostAddress>
#include <QRegularExpression>

#include <algorithm>

namespace lockscope::inspect {

namespace {

qint64 millisOf(const std::optional<ServerTime> &moment)
{
    return moment ? qint64(moment->time_since_epoch().count()) : 0;
}

// The first that a holder writes of itself, as plainHost() has it: of "web-1 (10.0.3.7)", "web-1 (0:0:0:0:0:0:0:1)".
QString addressIn(const QByteArray &identity)
{
    static const QRegularExpression ipv6(
        u"(?<![0-9A-Za-z:.%])([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:(?:\\.[0-9]{1,3}){3})?)(?![0-9A-Za-z:.])"_s);
    static const QRegularExpression ipv4(u"(?<![0-9.])([0-9]{1,3}(?:\\.[0-9]{1,3}){3})(?![0-9.])"_s);
    const auto text = QString::fromUtf8(identity);
    if (const auto named = ipv6.match(text); named.hasMatch() && !QHostAddress(named.captured(1)).isNull())
        return plainHost(named.captured(1)); // also of an IPv4 address that is written as one
    const auto named = ipv4.match(text);
    return named.hasMatch() ? named.captured(1) : QString();
}

// "2 connections from 10.0.3.7 are open, the oldest since 2026-11-22T10:00:00Z, 1 in a transaction". Times and not
// ages: it is to change only when they do.
QString connectionsText(const QString &host, const SqlHostConnections &from)
{
    QStringList parts{from.count == 1 ? u"1 connection from %1 is open"_s.arg(host)
                                      : u"%1 connections from %2 are open"_s.arg(QString::number(from.count), host)};
    if (from.oldest) {
        const auto since = isoSeconds(std::chrono::floor<std::chrono::seconds>(from.oldest->time_since_epoch()));
        parts << (from.count == 1 ? u"since %1"_s : u"the oldest since %1"_s).arg(since);
    }
    if (from.inTransaction)
        parts << (*from.inTransaction == 0 ? u"none in a transaction"_s
                                           : u"%1 in a transaction"_s.arg(*from.inTransaction));
    return parts.join(u", "_s);
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
        lock.clientTraits.notices = layout.notices.isEmpty() ? nullptr : QStringView(layout.notices).utf16();
    }
    lock.why = layout.why;
    lock.byUserRule = !layout.table.isEmpty();
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

void addHolderConnections(LockSnapshot &lock, const SqlConnections &connections)
{
    // A client that is alive may be between two connections, but not for so long.
    constexpr auto isOld = 10min;
    const auto &holder = lock.contenders.front();
    const auto host = addressIn(holder.identity.value_or(QByteArray()));
    // Each machine has the loopback address.
    if (host.isEmpty() || isLoopbackHost(host))
        return;
    if (const auto from = connections.find(host); from != connections.end()) {
        lock.why += clause(connectionsText(host, from->second));
        return;
    }
    // Names of hosts cannot be compared with an address.
    const auto isComparable = [](const auto &one) {
        return one.first.isEmpty() || one.first == "localhost"_L1 || addressIn(one.first.toUtf8()) == one.first;
    };
    if (!std::ranges::all_of(connections, isComparable))
        return;
    const auto none =
        u"no connection from %1 is open; behind NAT or a pool of connections this proves nothing"_s.arg(host);
    lock.why += clause(none);
    if (holder.heldSince && lock.observed - *holder.heldSince >= isOld)
        addFinding(lock, FindingCode::HolderDisconnected, none, {holder.id});
}

namespace {

// A server does not tell since when they are open.
SqlConnections connectionsIn(const SqlPoll &look)
{
    std::set<quint64> inTransaction;
    for (const auto *all : {&look.transactions, &look.readers}) {
        for (const auto &one : *all)
            inTransaction.insert(one.connection);
    }
    SqlConnections connections;
    for (const auto &process : look.processes) {
        if (process.connection == look.ownConnection)
            continue;
        auto &from = connections[hostOfEndpoint(QString::fromUtf8(process.host))];
        ++from.count;
        if (look.rowsAreFresh)
            from.inTransaction =
                from.inTransaction.value_or(0) + (inTransaction.contains(process.connection) ? 1 : 0);
    }
    return connections;
}

} // namespace

void addLockRows(std::vector<LockSnapshot> &snapshots, const SqlPollIndex &looked, const ConnectionName &connection)
{
    const auto &look = looked.look();
    const auto connections = connectionsIn(look);
    std::set<QByteArray> names; // a server may say anything twice
    for (const auto &row : look.lockRows) {
        const auto name = lockRowName(row);
        if (!names.insert(name).second)
            continue;
        snapshots.push_back(lockOfRow(row, emptySqlLock(look, connection, name)));
        if (look.seesAllProcesses && !look.processes.empty())
            addHolderConnections(snapshots.back(), connections);
    }
}

} // namespace lockscope::inspect
