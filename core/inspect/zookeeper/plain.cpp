// SPDX-License-Identifier: Apache-2.0
// One ephemeral node without a number: whoever makes it holds the lock, everybody else watches it.
#include "core/inspect/findings.h"
#include "core/inspect/words.h"
#include "core/inspect/zookeeper/names.h"
#include "core/inspect/zookeeper/sessionfindings.h"
#include "core/inspect/zookeeper/singles.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

constexpr auto electorLock = "ActiveStandbyElectorLock";

bool isPlain(const ZnodeView &node, const ZPath &directory)
{
    return !node.stat.ephemeralOwner.isNone() && !isNoLock(directory, node.name)
        && !recipes::readSequence(node.name);
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
    Contender waiter;
    waiter.id = session.text().toLatin1();
    waiter.session = session.text();
    waiter.endpoint = servers.endpoint(session);
    waiter.watches.push_back({watched.bytes(), false, Evidence::Server});
    return waiter;
}

// The holder, exact to the moment: the node was made when the lock was taken.
LockPicture heldBy(const ZnodeView &node, const DirectoryView &directory, const RecogniseContext &context)
{
    LockPicture lock = emptyPicture(directory.path.child(node.name).bytes(), context);
    Contender holder = contenderOf(node, directory.path, ServerView(context));
    holder.role = Role::Holder;
    holder.heldSince = momentOf(node.stat.ctime);
    holder.position = 0;
    lock.contenders.push_back(std::move(holder));
    lock.state = LockState::Held;
    return lock;
}

void addOnlookers(LockPicture &lock, const ZnodeView &node, const std::vector<zk::SessionId> &sessions,
                  const RecogniseContext &context)
{
    const ServerView servers(context);
    for (const auto session : sessions)
        lock.contenders.push_back(waiterOf(session, node.name, servers));
    lock.state = sessions.empty() ? LockState::Held : LockState::Contended;
    lock.waitersKnown = servers.knowsAllWatches();
}

bool isKafkaController(const ZnodeView &node, const ZPath &)
{
    if (node.name.bytes() != "controller" || !node.data)
        return false;
    return QJsonDocument::fromJson(*node.data).object().contains("brokerid"_L1);
}

// Leader nodes of known systems; empty for any other node.
std::optional<LockPicture> leader(const ZnodeView &node, const Surroundings &around)
{
    const auto &[directory, context, owners, alone] = around;
    const bool elector = node.name.bytes() == electorLock;
    const bool kafka = isKafkaController(node, directory.path);
    const bool hbase = node.name.bytes() == "master" && directory.path.name().bytes().startsWith("hbase");
    if (!elector && !kafka && !hbase)
        return std::nullopt;
    LockPicture lock = heldBy(node, directory, context);
    lock.recipe = "zk-election";
    lock.confidence = Confidence::High;
    if (hbase) {
        // Region servers watch it too; the backup masters have a directory of their own.
        lock.client = u"HBase"_s;
        lock.why = u"the ephemeral node master of HBase"_s;
        lock.waitersKnown = false;
    } else {
        addOnlookers(lock, node, onlookers(node, around), context);
        const bool yarn = directory.path.bytes().startsWith("/yarn");
        lock.client = kafka ? u"Kafka"_s : yarn ? u"YARN"_s : u"HDFS"_s;
        lock.why = kafka ? u"the ephemeral node controller, with a broker's id in its data"_s
                         : u"an ephemeral node named ActiveStandbyElectorLock"_s;
    }
    if (elector) {
        const ZPath crumb = directory.path.child(NodeName("ActiveBreadCrumb"));
        if (std::ranges::find(directory.children, crumb.name(), &ZnodeView::name) != directory.children.end())
            lock.companions.push_back(crumb.bytes());
    }
    return lock;
}

std::optional<LockPicture> plain(const ZnodeView &node, const Surroundings &around)
{
    const auto &[directory, context, owners, alone] = around;
    const bool named = saysLock(node.name.bytes()) || saysLock(directory.path.name().bytes());
    if (!named && !alone)
        return std::nullopt; // members of a group, most likely
    const auto waiting = onlookers(node, around);
    LockPicture lock = heldBy(node, directory, context);
    lock.recipe = "zk-ephemeral";
    addOnlookers(lock, node, waiting, context);
    lock.confidence = named || !waiting.empty() ? Confidence::Medium : Confidence::Low;
    lock.why = u"a single ephemeral node without a number"_s;
    if (named)
        lock.why += u", and the name says lock"_s;
    else if (!waiting.empty())
        lock.why += u", watched by sessions that own nothing beside it"_s;
    return lock;
}

} // namespace

bool isLeaderNode(const ZPath &directory, const NodeName &name)
{
    const QByteArray &bytes = name.bytes();
    return bytes == electorLock || bytes == "controller"
        || (bytes == "master" && directory.name().bytes().startsWith("hbase"));
}

std::vector<LockPicture> plainLocks(const DirectoryView &directory, const RecogniseContext &context)
{
    std::vector<const ZnodeView *> nodes;
    Surroundings around{directory, context, {}, false};
    for (const auto &child : directory.children) {
        around.owners.insert(child.stat.ephemeralOwner);
        if (isPlain(child, directory.path))
            nodes.push_back(&child);
    }
    around.alone = nodes.size() == 1;
    std::vector<LockPicture> locks;
    for (const auto *node : nodes) {
        auto lock = leader(*node, around);
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

} // namespace lockscope::inspect
