// SPDX-License-Identifier: Apache-2.0
// One ephemeral node without a number: whoever makes it holds the lock, everybody else watches it.
#include "core/inspect/findings.h"
#include "core/inspect/knownclients.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/zookeeper/queue.h"

#include <QDateTime>
#include <QHostAddress>
#include <QJsonDocument>
#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

bool isNumbered(const NodeName &name)
{
    return recipes::readSequence(name) && !isUuid36(name.bytes()) && !isHex32(name.bytes());
}

bool isPlain(const ZnodeView &node, const ZPath &directory, const OwnNumbered &ownNumbered)
{
    return !node.stat.ephemeralOwner.isNone() && !isNoLock(directory, node.name)
           && (!isNumbered(node.name) || ownNumbered.contains(&node));
}

// The directory and who owns anything in it.
struct Surroundings {
    const DirectoryView &directory;
    const RecogniseContext &context;
    std::set<zk::SessionId> owners;
    bool alone = false; // one plain ephemeral, no more
};

// Who watches the node without having one in this directory can only wait for it (or look on).
std::vector<zk::SessionId> onlookers(const ZnodeView &node, const Surroundings &around)
{
    auto all = ServerView(around.context).watchers(around.directory.path.child(node.name));
    std::erase_if(all, [&around](zk::SessionId session) { return around.owners.contains(session); });
    return all;
}

Contender waiterOf(zk::SessionId session, const NodeName &watched, const ServerView &servers)
{
    return {.id = session.text().toLatin1(),
            .session = session.text(),
            .endpoint = servers.endpoint(session),
            .watches = {{watched.bytes(), false, Evidence::Server}}};
}

// The holder, exact to the moment: the node was made when the lock was taken.
LockSnapshot heldBy(const ZnodeView &node, const DirectoryView &directory, const RecogniseContext &context)
{
    LockSnapshot lock = emptySnapshot(directory.path.child(node.name).bytes(), context);
    Contender holder = contenderOf(node, directory.path, ServerView(context));
    holder.role = Role::Holder;
    holder.heldSince = momentOf(node.stat.ctime);
    holder.position = 0;
    lock.contenders.push_back(std::move(holder));
    lock.state = LockState::Held;
    return lock;
}

void addOnlookers(LockSnapshot &lock, const ZnodeView &node, const std::vector<zk::SessionId> &sessions,
                  const RecogniseContext &context)
{
    const ServerView servers(context);
    for (const auto session : sessions)
        lock.contenders.push_back(waiterOf(session, node.name, servers));
    lock.state = sessions.empty() ? LockState::Held : LockState::Contended;
    lock.waitersKnown = servers.knowsAllWatches();
    if (!sessions.empty()) // a watch stays until it fires, its client removes it or its session ends
        lock.why +=
            clause(u"waiters are known by their watches only, and a client that gave up may leave its watch"_s);
}

// A leader's node of a known system. What is empty is not asked for.
struct LeaderNode {
    QByteArray name, pathPrefix, folder, folderPrefix;
    QString client, why, field; // that its data has, JSON then
    QByteArray companion{};
    bool showsWaiters = true;
};

// The first that fits is it.
const std::vector<LeaderNode> &leaderNodes()
{
    static const auto all = [] {
        std::vector<LeaderNode> nodes;
        readResourceList(u"rules/zookeeper-leaders.json"_s, "nodes", [&nodes](FieldReader &reader) {
            const auto bytes = [&reader](const char *field) { return reader.text(field, QString()).toUtf8(); };
            nodes.push_back({bytes("name"), bytes("pathPrefix"), bytes("folder"), bytes("folderPrefix"),
                             reader.text("client"), reader.text("why"), reader.text("field", QString()),
                             bytes("companion")});
            reader.take("showsWaiters", nodes.back().showsWaiters);
        });
        return nodes;
    }();
    return all;
}

bool isAt(const LeaderNode &leader, const ZPath &directory, const NodeName &name)
{
    const auto folder = directory.name().bytes();
    return name.bytes() == leader.name && directory.bytes().startsWith(leader.pathPrefix)
           && folder.startsWith(leader.folderPrefix) && (leader.folder.isEmpty() || folder == leader.folder);
}

std::optional<LockSnapshot> leaderLock(const ZnodeView &node, const Surroundings &around)
{
    const auto &directory = around.directory;
    const auto &context = around.context;
    const auto leader = std::ranges::find_if(leaderNodes(), [&](const LeaderNode &one) {
        return isAt(one, directory.path, node.name)
               && (one.field.isEmpty()
                   || QJsonDocument::fromJson(node.data.value_or(QByteArray())).object().contains(one.field));
    });
    if (leader == leaderNodes().end())
        return std::nullopt;
    LockSnapshot lock = heldBy(node, directory, context);
    lock.recipe = "zk-election";
    lock.confidence = Confidence::High;
    lock.client = leader->client;
    lock.why = leader->why;
    lock.waitersKnown = false;
    if (leader->showsWaiters)
        addOnlookers(lock, node, onlookers(node, around), context);
    const auto isCompanion = [&leader](const ZnodeView &one) { return one.name.bytes() == leader->companion; };
    if (!leader->companion.isEmpty() && std::ranges::any_of(directory.children, isCompanion))
        lock.companions.push_back(directory.path.child(NodeName(leader->companion)).bytes());
    return lock;
}

// "10.0.3.7 <uuid>", as this client's own lock of one node has it.
bool isOwnMark(const std::optional<QByteArray> &data)
{
    const auto space = data ? data->indexOf(' ') : -1;
    QHostAddress address;
    return space > 0 && address.setAddress(QString::fromLatin1(data->left(space))) && isUuid36(data->mid(space + 1));
}

// A barrier has several members, or a node `ready` beside them. A name in which a client has put its own id excludes
// no other client.
bool isMember(const QByteArray &name, const Surroundings &around)
{
    const bool isId = isUuid36(name) || isHex32(name);
    const bool hasId = !isId && readProtection(name).kind != Protection::None;
    return hasId || (isUuid36(name) && !around.alone) || (isId && hasChild(around.directory, "ready"));
}

std::optional<LockSnapshot> plain(const ZnodeView &node, const Surroundings &around)
{
    const auto &directory = around.directory;
    const auto &context = around.context;
    const bool named = saysLockItself(node.name.bytes()) || saysLockItself(directory.path.name().bytes());
    const bool marked = isOwnMark(node.data);
    if ((!named && !marked && !around.alone) || isMember(node.name.bytes(), around))
        return std::nullopt; // members of a group, most likely
    const auto waiting = onlookers(node, around);
    LockSnapshot lock = heldBy(node, directory, context);
    lock.recipe = "zk-ephemeral";
    // Watched it may be by whoever wants to know the members of a group of one.
    lock.confidence = named || marked ? Confidence::Medium : Confidence::Low;
    lock.why = isNumbered(node.name) ? u"a single ephemeral node, whose number is its client's own"_s
                                     : u"a single ephemeral node without a number"_s;
    lock.why += clause(named              ? u"the name says lock"_s
                       : marked           ? u"its data is an address and a UUID, as Lockscope writes it"_s
                       : !waiting.empty() ? u"sessions that own nothing beside it watch it"_s
                                          : QString());
    addOnlookers(lock, node, waiting, context);
    return lock;
}

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
    LockSnapshot lock = leaseOf(directory.bytes(), KnownClient{.name = u"kazoo"_s}, context);
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
    LockSnapshot lock = leaseOf(directory.child(node.name).bytes(), knownClient("shed-lock"), context);
    lock.why = until ? u"a node below shedlock whose data is the instant until which it is locked"_s
                     : u"a node below shedlock without a readable instant, which counts as locked"_s;
    addHolder(lock, node, directory, until, std::nullopt, context);
    return lock;
}

// Helix' record LOCK. Source: helix-lock, LockInfo.java, ZKDistributedNonblockingLock.java.
std::optional<LockSnapshot> helixLock(const ZnodeView &node, const ZPath &directory, const RecogniseContext &context)
{
    constexpr qint64 latest = 100'000'000'000'000; // a time-out that never comes is the largest number
    const auto record = node.data ? QJsonDocument::fromJson(*node.data).object() : QJsonObject();
    const auto fields = record.value("simpleFields"_L1).toObject();
    const auto owner = fields.value("OWNER"_L1).toString();
    bool ok = false;
    const auto timeout = fields.value("TIMEOUT"_L1).toString().toLongLong(&ok);
    if (record.value("id"_L1).toString() != u"LOCK"_s || !fields.contains("OWNER"_L1) || !ok)
        return std::nullopt;
    LockSnapshot lock = leaseOf(directory.child(node.name).bytes(), KnownClient{.name = u"Helix"_s}, context);
    lock.why = u"a record LOCK whose fields OWNER and TIMEOUT name the holder and the end"_s;
    const auto until =
        timeout < latest ? std::optional(ServerTime(std::chrono::milliseconds(timeout))) : std::nullopt;
    if (!owner.isEmpty())
        addHolder(lock, node, directory, until, owner.toUtf8().left(256), context);
    // A client of a higher priority writes the record again, with its request: the hold is the same.
    for (auto &holder : lock.contenders) {
        holder.id = node.name.bytes() + '@' + owner.toUtf8().left(64) + ':' + QByteArray::number(timeout);
        if (fields.contains("REQUESTING_PRIORITY"_L1) || fields.contains("REQUESTING_ID"_L1))
            holder.heldSince.reset();
    }
    return lock;
}

} // namespace

bool isLeaderNode(const ZPath &directory, const NodeName &name)
{
    return std::ranges::any_of(leaderNodes(), [&](const LeaderNode &one) { return isAt(one, directory, name); });
}

std::vector<LockSnapshot> plainLocks(const DirectoryView &directory, const OwnNumbered &ownNumbered,
                                     const RecogniseContext &context)
{
    std::vector<const ZnodeView *> nodes;
    Surroundings around{directory, context, {}, false};
    for (const auto &child : directory.children) {
        around.owners.insert(child.stat.ephemeralOwner);
        if (isPlain(child, directory.path, ownNumbered))
            nodes.push_back(&child);
    }
    around.alone = nodes.size() == 1;
    std::vector<LockSnapshot> locks;
    for (const auto *node : nodes) {
        auto lock = leaderLock(*node, around);
        if (!lock)
            lock = plain(*node, around);
        if (!lock)
            continue;
        addSessionFindings(*lock, context);
        addHerdFinding(*lock);
        locks.push_back(std::move(*lock));
    }
    return locks;
}

// Nodes that stay and say until when they are locked.

std::vector<LockSnapshot> leaseLocks(const DirectoryView &directory, const RecogniseContext &context)
{
    std::vector<LockSnapshot> locks;
    for (const auto &child : directory.children) {
        for (auto *rule : {kazooLease, helixLock, shedLock}) {
            if (auto lease = rule(child, directory.path, context)) {
                locks.push_back(std::move(*lease));
                break;
            }
        }
    }
    return locks;
}

} // namespace lockscope::inspect
