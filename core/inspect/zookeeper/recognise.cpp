// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/recognise.h"

#include "core/inspect/lockterms.h"
#include "core/inspect/zookeeper/queue.h"
#include "core/inspect/zookeeper/serverview.h"
#include "core/rules/contenderid.h"

#include <QHash>

#include <algorithm>

namespace lockscope::inspect {

namespace {

void append(std::vector<LockSnapshot> &to, std::vector<LockSnapshot> more)
{
    std::ranges::move(more, std::back_inserter(to));
}

bool isAny(const std::vector<NodeName> &names, const Layout &layout)
{
    return std::ranges::any_of(names, [&layout](const auto &name) { return layout.matchName(name).has_value(); });
}

// Curator's semaphore keeps its queue and its leases in two folders. Leases can be nothing else; a queue
// in a folder "locks" may also be a mutex of that name, which shows when the whole is read.
bool isPartOfComposite(const ZPath &directory, const std::vector<NodeName> &names)
{
    if (directory.parent().isRoot())
        return false;
    const QByteArray folder = directory.name().bytes();
    return folder == "leases" ? isAny(names, curatorLease) : folder == "locks" && isAny(names, curatorLock);
}

std::optional<ZPath> guardedPool(const ZPath &directory, const std::vector<NodeName> &names)
{
    static const QByteArray suffix = "-__lock__";
    const QByteArray folder = directory.name().bytes();
    if (!folder.endsWith(suffix) || folder.size() == suffix.size() || !isAny(names, kazooLock))
        return std::nullopt;
    return directory.parent().child(NodeName(folder.chopped(suffix.size())));
}

bool mayBeLock(const ZPath &directory, const NodeName &name)
{
    return recipes::readSequence(name) || isHex32(name.bytes()) || isLeaderNode(directory, name)
           || saysLock(name.bytes()) || saysLock(directory.name().bytes());
}

std::vector<LockSnapshot> locksByNames(const DirectoryView &directory, const RecogniseContext &context);

// A folder "locks" without "leases" beside it is a directory of its own after all.
std::vector<LockSnapshot> locksInPart(const DirectoryView &directory, const RecogniseContext &context)
{
    const auto locks = directory.parts.find("locks");
    if (locks == directory.parts.end())
        return {};
    DirectoryView inner;
    inner.path = directory.path.child(NodeName("locks"));
    inner.children = locks->second;
    return locksByNames(inner, context);
}

// All recognisers know contenders by their nodes' names.
std::vector<LockSnapshot> locksByNames(const DirectoryView &directory, const RecogniseContext &context)
{
    if (isNoLockDirectory(directory.path))
        return {};
    std::vector<LockSnapshot> found;
    if (auto semaphore = curatorSemaphore(directory, context))
        found.push_back(std::move(*semaphore));
    else
        append(found, locksInPart(directory, context));
    if (auto semaphore = kazooSemaphore(directory, context)) {
        found.push_back(std::move(*semaphore));
        return found;
    }
    auto leases = leaseLocks(directory, context);
    // kazoo's lease guards its node with a short-lived lock in the same directory.
    const bool guardOnly = std::ranges::any_of(
        leases, [&directory](const auto &lock) { return lock.lock.name == directory.path.bytes(); });
    append(found, std::move(leases));
    if (guardOnly)
        return found;
    auto queues = queueLocks(directory, context);
    append(found, std::move(queues.locks));
    if (!queues.claimsDirectory)
        append(found, plainLocks(directory, context));
    return found;
}

bool hasUnknown(const DirectoryView &directory)
{
    bool is = false;
    eachNode(directory, [&is](const ZPath &, const ZnodeView &node) { is = is || !node.isStatKnown; });
    return is;
}

// Whose they are that may not be read, the servers' lists of sessions may tell.
DirectoryView withOwners(DirectoryView directory, const ServerView &servers)
{
    std::map<ZPath, ZnodeView *> unknown;
    eachNode(directory, [&unknown](const ZPath &folder, ZnodeView &node) {
        if (!node.isStatKnown)
            unknown.emplace(folder.child(node.name), &node);
    });
    servers.eachEphemeral([&unknown](zk::SessionId session, const ZPath &path) {
        if (const auto at = unknown.find(path); at != unknown.end())
            at->second->stat.ephemeralOwner = session;
    });
    return directory;
}

// From names, which may come again, to ids, which never do.
void giveIds(LockSnapshot &lock)
{
    QHash<QByteArray, QByteArray> ids;
    for (auto &contender : lock.contenders) {
        if (contender.guard.znode().czxid == 0)
            continue; // no node of its own
        const QByteArray name = std::exchange(
            contender.id, recipes::nodeContenderId(NodeName(contender.id), contender.guard.znode().czxid));
        if (name != contender.id)
            ids.insert(name, contender.id);
    }
    if (ids.isEmpty())
        return;
    for (auto &contender : lock.contenders) {
        for (auto &edge : contender.watches)
            edge.target = ids.value(edge.target, edge.target);
    }
    for (auto &finding : lock.findings) {
        for (auto &id : finding.contenders)
            id = ids.value(id, id);
    }
}

} // namespace

bool hasChild(const DirectoryView &directory, const QByteArray &name)
{
    return std::ranges::find(directory.children, NodeName(name), &ZnodeView::name) != directory.children.end();
}

std::optional<ZPath> candidateDirectory(const ZPath &parent, const std::vector<NodeName> &ephemerals)
{
    if (isNoLockDirectory(parent))
        return std::nullopt;
    std::vector<NodeName> names;
    std::ranges::copy_if(ephemerals, std::back_inserter(names),
                         [&parent](const auto &name) { return !isNoLock(parent, name); });
    if (names.empty())
        return std::nullopt;
    if (isPartOfComposite(parent, names))
        return parent.parent();
    if (auto pool = guardedPool(parent, names))
        return pool;
    const bool likely = std::ranges::any_of(names, [&parent](const auto &name) { return mayBeLock(parent, name); });
    // A lone ephemeral is a lock if somebody waits for it; several are the members of a group.
    return likely || names.size() == 1 ? std::optional(parent) : std::nullopt;
}

ZPath partPath(const ZPath &directory, const QByteArray &part)
{
    const bool isInside = part == "locks" || part == "leases";
    return (isInside ? directory : directory.parent()).child(NodeName(part));
}

std::vector<ZPath> partsToRead(const DirectoryView &directory)
{
    std::vector<ZPath> parts;
    // Without `leases`, `locks` is still read: it may be why this directory is looked at.
    for (const auto *name : {"locks", "leases"}) {
        if (hasChild(directory, name))
            parts.push_back(directory.path.child(NodeName(name)));
    }
    const bool pool = !directory.path.isRoot() && isDigits(directory.data);
    if (pool)
        parts.push_back(directory.path.parent().child(NodeName(kazooGuardName(directory.path))));
    return parts;
}

std::vector<LockSnapshot> recognise(const DirectoryView &directory, const RecogniseContext &context)
{
    auto here = context;
    here.listedAt = directory.listedAt;
    auto locks = hasUnknown(directory) ? locksByNames(withOwners(directory, ServerView(here)), here)
                                       : locksByNames(directory, here);
    if (directory.isCut) {
        for (auto &lock : locks)
            lock.waitersKnown = false;
    }
    std::ranges::for_each(locks, giveIds);
    return locks;
}

} // namespace lockscope::inspect
