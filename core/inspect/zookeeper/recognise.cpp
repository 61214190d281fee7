// SPDX-License-Identifier: Apache-2.0
// Which nodes are read as locks. Nodes of well-known systems look like locks and are none. What a folder is called
// proves nothing: an application may keep its locks in "owners" or "taken". So a node is left out only where the
// whole place has the system's shape, or its own name is that system's, and never where the name is a lock client's
// own.
#include "core/inspect/zookeeper/recognise.h"

#include "core/base/fieldreader.h"
#include "core/inspect/coverage.h"
#include "core/inspect/lockterms.h"
#include "core/inspect/zookeeper/observerjudge.h"
#include "core/inspect/zookeeper/queue.h"

#include <QHash>
#include <QRegularExpression>

namespace lockscope::inspect {

namespace {

// The last names of a path, the last one first.
class Tail {
public:
    explicit Tail(const ZPath &directory)
    {
        auto at = directory;
        for (auto &name : m_names) {
            if (at.isRoot())
                break;
            name = at.name().bytes();
            at = at.parent();
        }
    }
    // The path ends in those names. One that ends in "*" is any that begins so.
    [[nodiscard]] bool is(const QByteArrayList &shape) const
    {
        auto name = m_names.begin();
        for (auto expected = shape.crbegin(); expected != shape.crend(); ++expected, ++name) {
            const bool isAny = expected->endsWith('*');
            if (name->isEmpty()
                || (isAny ? !name->startsWith(QByteArrayView(*expected).chopped(1)) : *name != *expected))
                return false;
        }
        return true;
    }
    [[nodiscard]] const QByteArray &last() const { return m_names[0]; }
    [[nodiscard]] const QByteArray &parent() const { return m_names[1]; }

private:
    std::array<QByteArray, 4> m_names;
};

// Each process that uses a stored state of Flink has a node below it, so that no other deletes the state: several at
// once, which wait for nothing. One that a former leader left keeps its job from being removed, so it is no known
// entry either. Source: flink-runtime, runtime/zookeeper/ZooKeeperStateHandleStore.java; newer versions put them into
// a folder `locks`.
bool isFlinkReference(const ZPath &directory, const QByteArray &name)
{
    if (!isUuid36(name))
        return false;
    const auto state = directory.name().bytes() == "locks" ? directory.parent() : directory;
    const Tail tail(state);
    const bool isJob = tail.is({"jobgraphs", "*"}) && isHex32(tail.last());
    const bool isCheckpoint = isDigits(tail.last())
                              && ((tail.is({"checkpoints", "*", "*"}) && isHex32(tail.parent()))
                                  || tail.is({"jobs", "*", "checkpoints", "*"}));
    return isJob || isCheckpoint;
}

// By its folder and its name, as resources/rules/zookeeper-other-systems.json has them.
bool isOfOtherSystem(const ZPath &directory, const QByteArray &name)
{
    static const auto all = [] {
        std::vector<std::pair<QByteArrayList, QRegularExpression>> places;
        readResourceList(u"rules/zookeeper-other-systems.json"_s, "nodes", [&places](FieldReader &reader) {
            const auto form = QRegularExpression::anchoredPattern(reader.text("name", u".*"_s));
            places.emplace_back(reader.text("folder").toUtf8().split('/'),
                                QRegularExpression(form, QRegularExpression::DotMatchesEverythingOption));
        });
        return places;
    }();
    const bool isHive = name.startsWith("serverUri=") && name.contains(";version=");
    const Tail tail(directory);
    return isHive || std::ranges::any_of(all, [&](const auto &place) {
               return tail.is(place.first) && place.second.match(QString::fromLatin1(name)).hasMatch();
           });
}

// Numbered names that are messages or log entries. They are persistent: an ephemeral node of such a name is another
// thing, as the lock that Curator's DistributedQueue makes of an item is.
bool isMessage(const QByteArray &base)
{
    // Kafka's, ClickHouse's, and DistributedQueue's
    static const QByteArrayList bases{"config_change_", "isr_change_", "log_dir_event_", "acl_changes_",
                                      "token_change_",  "log-",        "queue-",         "qn-"};
    return bases.contains(base);
}

bool isOfKnownClient(const NodeName &name)
{
    return std::ranges::any_of(layouts(), [&name](const Layout &layout) {
        return layout.isUnmistakable && layout.matchName(name).has_value();
    });
}

std::set<QByteArray> nodesOf(const SnapshotStore &snapshots)
{
    std::set<QByteArray> paths;
    for (const auto &[name, entry] : snapshots.entries()) {
        for (const auto &contender : entry.second.contenders)
            paths.insert(contender.guard.znode().path);
        paths.insert(entry.second.companions.begin(), entry.second.companions.end());
    }
    return paths;
}

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
    return folder == "leases" ? isAny(names, layoutNamed("curator-lease"))
                              : folder == "locks" && isAny(names, layoutNamed("curator-lock"));
}

std::optional<ZPath> guardedPool(const ZPath &directory, const std::vector<NodeName> &names)
{
    static const QByteArray suffix = "-__lock__";
    const QByteArray folder = directory.name().bytes();
    if (!folder.endsWith(suffix) || folder.size() == suffix.size() || !isAny(names, layoutNamed("kazoo-lock")))
        return std::nullopt;
    return directory.parent().child(NodeName(folder.chopped(suffix.size())));
}

bool mayBeLock(const ZPath &directory, const NodeName &name)
{
    return recipes::readSequence(name) || isHex32(name.bytes()) || isLeaderNode(directory, name)
           || saysLock(name.bytes()) || saysLock(directory.name().bytes()) || isHelixScope(directory);
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
        append(found, plainLocks(directory, queues.ownNumbered, context));
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

bool isHelixScope(const ZPath &directory)
{
    return Tail(directory).parent() == "LOCK";
}

std::set<ZPath> pathsOfEphemerals(const DirectoryView &view)
{
    std::set<ZPath> paths;
    eachNode(view, [&paths](const ZPath &folder, const ZnodeView &node) {
        if (!node.stat.ephemeralOwner.isNone())
            paths.insert(folder.child(node.name));
    });
    return paths;
}

bool isNoLockDirectory(const ZPath &directory)
{
    return directory.bytes() == "/zookeeper" || directory.bytes().startsWith("/zookeeper/");
}

bool isKnownEntry(const ZPath &directory, const NodeName &name)
{
    const QByteArray &bytes = name.bytes();
    if (isOfOtherSystem(directory, bytes))
        return true;
    if (bytes == "is_active" || bytes == "ready" || bytes == "leader_ack" || bytes.contains("__party__"))
        return true;
    const auto sequence = recipes::readSequence(name);
    // ClickHouse's short-lived markers; the entries of kazoo's LockingQueue, and who has taken which.
    return sequence && (sequence->prefix() == "abandonable_lock-" || sequence->prefix().startsWith("entry-"));
}

bool isNoLock(const ZPath &directory, const NodeName &name)
{
    if (isOfKnownClient(name))
        return false;
    // A member of Curator's double barrier, unless it is the only one in a folder of locks. Other systems have such
    // names, too, so that it is not a known entry.
    const bool isMember = isUuid36(name.bytes()) && !saysLock(directory.name().bytes());
    const auto sequence = recipes::readSequence(name);
    return isMember || isFlinkReference(directory, name.bytes()) || isKnownEntry(directory, name)
           || (sequence && isMessage(sequence->prefix()));
}

// The ephemeral nodes that no lock accounts for. Each of them ends with a client, so each may be a lock of a kind
// that the rules do not know.

std::vector<Unexplained> unexplainedEphemerals(const NamesByParent &listed, const SnapshotStore &snapshots,
                                               const ViewOf &viewOf, const RecogniseContext &context)
{
    const auto accounted = nodesOf(snapshots);
    const ServerView servers(context);
    std::map<ZPath, zk::SessionId> owners;
    servers.eachEphemeral([&owners](zk::SessionId session, const ZPath &path) { owners.emplace(path, session); });
    const auto isAwaited = [&](const ZPath &path) { // many a client watches its own node, too
        return std::ranges::any_of(servers.watchers(path), [&](auto session) { return session != owners[path]; });
    };
    Ledger awaited, others;
    for (const auto &[folder, names] : listed) {
        const auto directory = candidateDirectory(folder, names);
        const auto *view = directory ? viewOf(*directory) : nullptr;
        const bool isYetToBeRead = directory && !view;
        if (isNoLockDirectory(folder) || isYetToBeRead || (directory && snapshots.hasHidden(directory->bytes())))
            continue;
        std::optional<std::set<ZPath>> there; // the list may be older than the view
        for (const auto &name : names) {
            const auto path = folder.child(name);
            if (isKnownEntry(folder, name) || accounted.contains(path.bytes()))
                continue;
            if (view && !there)
                there = pathsOfEphemerals(*view);
            if (!view || there->contains(path))
                (isAwaited(path) ? awaited : others).add(path.bytes());
        }
    }
    auto all =
        awaited.groups({u"1 ephemeral node belongs to no known lock, and other sessions watch it"_s,
                        u"%1 ephemeral nodes like %2 belong to no known lock, and other sessions watch them"_s});
    std::ranges::move(others.groups({u"1 ephemeral node belongs to no known lock"_s,
                                     u"%1 ephemeral nodes like %2 belong to no known lock"_s}),
                      std::back_inserter(all));
    return all;
}

bool hasChild(const DirectoryView &directory, const QByteArray &name)
{
    return std::ranges::find(directory.children, NodeName(name), &ZnodeView::name) != directory.children.end();
}

bool mayHaveGiven(const zk::Stat &folder, qint64 number)
{
    constexpr qint64 nearlyOver = 2'147'480'000;
    const auto created = createdIn(folder);
    return created <= 0 || number < created || number >= nearlyOver;
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
