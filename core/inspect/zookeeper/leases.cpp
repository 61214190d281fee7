// SPDX-License-Identifier: Apache-2.0
// Nodes that stay and say until when they are locked: ShedLock's and kazoo's NonBlockingLease.
#include "core/inspect/knownclients.h"
#include "core/inspect/zookeeper/queue.h"

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

// "2026-03-01T10:00:00.123456789Z" or without zone (UTC); empty if it is no instant.
std::optional<ServerTime> readInstant(const QByteArray &text)
{
    static const QRegularExpression form(u"^(\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2})(?:\\.(\\d{1,9}))?Z?$"_s);
    const auto match = form.match(QString::fromLatin1(text.left(64)));
    if (!match.hasMatch())
        return std::nullopt;
    const auto moment = QDateTime::fromString(match.captured(1) + u'Z', Qt::ISODate);
    if (!moment.isValid())
        return std::nullopt;
    const qint64 fraction = match.captured(2).leftJustified(3, u'0').left(3).toLongLong();
    return ServerTime(std::chrono::milliseconds(moment.toMSecsSinceEpoch() + fraction));
}

LockSnapshot leaseOf(const QByteArray &name, const KnownClient &client, const RecogniseContext &context)
{
    LockSnapshot lock = emptySnapshot(name, context);
    lock.recipe = "zk-lease";
    attribute(lock, client);
    lock.confidence = Confidence::High;
    lock.waitersKnown = false; // they come back and try again
    return lock;
}

void addHolder(LockSnapshot &lock, const ZnodeView &node, const ZPath &directory, std::optional<ServerTime> until,
               std::optional<QByteArray> who, const RecogniseContext &context)
{
    if (until && *until <= lock.observed)
        return;
    Contender holder = contenderOf(node, directory, ServerView(context));
    // The node stays from hold to hold: what tells them apart is when it was written.
    if (node.stat.mzxid != 0)
        holder.id += '@' + QByteArray::number(node.stat.mzxid);
    holder.guard.edit<ZnodeIdentity>().czxid = 0;
    holder.role = Role::Holder;
    holder.position = 0;
    holder.heldSince = momentOf(node.stat.mtime); // a renewal moves it
    holder.heldAtMost = false;
    holder.expiresAt = until;
    holder.identity = std::move(who);
    lock.contenders.push_back(std::move(holder));
    lock.state = LockState::Held;
}

std::optional<LockSnapshot> kazooLease(const ZnodeView &node, const ZPath &directory, const RecogniseContext &context)
{
    if (node.name.bytes() != "lease_holder" || !node.data)
        return std::nullopt;
    const auto json = QJsonDocument::fromJson(*node.data).object();
    if (!json.contains("holder"_L1) || !json.contains("end"_L1))
        return std::nullopt;
    LockSnapshot lock = leaseOf(directory.bytes(), KnownClient{u"kazoo"}, context);
    lock.why = u"a node lease_holder whose JSON names holder and end"_s;
    const auto end = readInstant(json.value("end"_L1).toString().toLatin1());
    addHolder(lock, node, directory, end, json.value("holder"_L1).toString().toUtf8().left(256), context);
    return lock;
}

std::optional<LockSnapshot> shedLock(const ZnodeView &node, const ZPath &directory, const RecogniseContext &context)
{
    // An empty or unreadable instant counts as locked there; a folder of other things does not.
    if (directory.name().bytes() != "shedlock" || !node.stat.ephemeralOwner.isNone() || node.stat.numChildren > 0)
        return std::nullopt;
    const auto until = node.data ? readInstant(*node.data) : std::nullopt;
    LockSnapshot lock = leaseOf(directory.child(node.name).bytes(), clients::shedLock, context);
    lock.why = until ? u"a node below shedlock whose data is the instant until which it is locked"_s
                     : u"a node below shedlock without a readable instant, which counts as locked"_s;
    addHolder(lock, node, directory, until, std::nullopt, context);
    return lock;
}

} // namespace

std::vector<LockSnapshot> leaseLocks(const DirectoryView &directory, const RecogniseContext &context)
{
    std::vector<LockSnapshot> locks;
    for (const auto &child : directory.children) {
        if (auto lease = kazooLease(child, directory.path, context))
            locks.push_back(std::move(*lease));
        else if (auto shed = shedLock(child, directory.path, context))
            locks.push_back(std::move(*shed));
    }
    return locks;
}

} // namespace lockscope::inspect
