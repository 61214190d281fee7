// SPDX-License-Identifier: Apache-2.0
// Apache Curator's queue nodes, and go-zookeeper's, which copy them without the dashes of the UUID.
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/queue.h"
#include "core/inspect/zookeeper/serverview.h"

#include <QHostAddress>

#include <algorithm>

namespace lockscope::inspect {

using recipes::Access;

namespace {

// Curator writes the local address when it is given nothing to write.
bool isAddressOfHost(const QByteArray &data)
{
    QHostAddress address;
    return address.setAddress(QString::fromUtf8(data));
}

bool hasTextOfItsOwn(const Member &member)
{
    const auto &data = member.node->data;
    return data && !data->isEmpty() && !isAddressOfHost(*data) && !isRevocation(*member.node);
}

void mutexOrLeader(Description &description, const std::vector<Member> &members, const ZPath &directory)
{
    const auto isOfCurator = [](const Member &one) { return one.match.layout == &curatorLock; };
    const auto saysNothing = [&](const Member &one) { return isOfCurator(one) && !hasTextOfItsOwn(one); };
    if (directory.parent().name().bytes() == "SpringIntegration-LockRegistry") {
        description.client = u"Spring Integration"_s;
        description.recipeOfSemaphore = {};
    } else if (std::ranges::any_of(members, isOfCurator) && std::ranges::none_of(members, saysNothing)) {
        description.recipe = "curator-leader";
        description.note =
            u"the data is an id of its own, as LeaderSelector writes, or a mutex with its own node data"_s;
    } else {
        description.note = u"a leader selector looks the same"_s;
    }
}

} // namespace

bool isRevocation(const ZnodeView &node)
{
    return node.data && *node.data == "__REVOKE__";
}

extern const Layout curatorReadWrite{
    .names = {{"__WRIT__", Protection::Dashed}, {"__READ__", Protection::Dashed, Access::Shared}},
    .description = {.recipe = "curator-rwlock",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-__WRIT__<seq> or __READ__"_s,
                    .confidence = Confidence::High,
                    .discipline = Discipline::CuratorReadWrite,
                    .mode = Mode::Write,
                    .watchesAreCertain = true},
    .isUnmistakable = true,
    .countsEveryChild = true,
};

const Layout curatorLease{
    .names = {{"lease-", Protection::Dashed}},
    .description = {.recipe = "curator-semaphore",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-lease-<seq>"_s,
                    .confidence = Confidence::High,
                    .mode = Mode::Permit,
                    .watchesAreCertain = true},
    .isUnmistakable = true,
};

extern const Layout curatorLatch{
    .names = {{"latch-", Protection::Dashed}},
    .description = {.recipe = "curator-leader",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-latch-<seq>"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .isUnmistakable = true,
    .countsEveryChild = true,
};

const Layout curatorLock{
    .names = {{"lock-", Protection::Dashed}},
    .description = {.recipe = "curator-mutex",
                    .client = u"Curator"_s,
                    .form = u"_c_<uuid>-lock-<seq>"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true,
                    .maybeSemaphore = true,
                    .recipeOfSemaphore = "curator-semaphore"},
    .refine = mutexOrLeader,
    .queues = Layout::CuratorLikeQueue,
    .isUnmistakable = true,
    .countsEveryChild = true,
};

// Reads Curator's and kazoo's names, and breaks on any other.
const Layout goLock{
    .names = {{"lock-", Protection::Plain}},
    .description = {.recipe = "zk-mutex",
                    .client = u"go-zookeeper"_s,
                    .form = u"_c_<uuid without dashes>-lock-<seq>"_s,
                    .confidence = Confidence::High,
                    .watchesAreCertain = true},
    .queues = Layout::CuratorLikeQueue,
    .isUnmistakable = true,
    .breaksBesideForeignNodes = true,
};

// Curator's InterProcessSemaphoreV2 (and its mutex): who is at the head of `locks` may make a lease in
// `leases`, and waits, watching those children, while there are too many of them.
namespace {

std::vector<Placed> placedPart(const std::vector<ZnodeView> &part, const ZPath &directory, const Layout &layout)
{
    std::vector<Member> members;
    for (const auto &node : part) {
        if (auto matched = layout.matchLayout(node, directory))
            members.push_back({&node, std::move(*matched)});
    }
    const Description description = layout.describe(members, directory);
    return place(description, std::move(members), 1);
}

// The newest lease is only asked for while its maker still stands at the head of `locks`. A lease that
// is older than that stand was granted earlier.
const ZnodeView *pendingLease(const std::vector<Placed> &leases, const std::vector<Placed> &locks)
{
    if (leases.empty() || locks.empty())
        return nullptr;
    const ZnodeView &newest = *leases.back().member.node;
    const ZnodeView &head = *locks.front().member.node;
    const bool sameSession =
        newest.stat.ephemeralOwner == head.stat.ephemeralOwner && !newest.stat.ephemeralOwner.isNone();
    return sameSession && newest.stat.czxid > head.stat.czxid ? &newest : nullptr;
}

struct Parts {
    ZPath locksPath;
    ZPath leasesPath;
    std::vector<Placed> locks;
    std::vector<Placed> leases;
    const ZnodeView *pending = nullptr;
};

void addHolders(LockSnapshot &lock, const Parts &parts, const RecogniseContext &context)
{
    const ServerView servers(context);
    for (const auto &lease : parts.leases) {
        if (lease.member.node == parts.pending)
            continue;
        Contender holder = contenderOf(*lease.member.node, parts.leasesPath, servers);
        holder.mode = Mode::Permit;
        markHolder(holder, *lease.member.node, context);
        if (!lease.member.node->mayBeEphemeral())
            addPersistentNode(lock, holder.id);
        lock.contenders.push_back(std::move(holder));
    }
}

WatchEdge edgeTo(const Placed &waiter, const Placed &predecessor, const QByteArray &target, const Parts &parts,
                 const ServerView &servers)
{
    const auto session = waiter.member.node->stat.ephemeralOwner;
    const auto nodes = std::ranges::count_if(
        parts.locks, [session](const Placed &one) { return one.member.node->stat.ephemeralOwner == session; });
    const bool proven = nodes == 1 && servers.watches(session, parts.locksPath.child(predecessor.member.node->name));
    return {target, false, proven ? Evidence::Server : Evidence::Inferred};
}

void addWaiters(LockSnapshot &lock, const Parts &parts, const RecogniseContext &context)
{
    const ServerView servers(context);
    QByteArray previous;
    for (size_t i = 0; i < parts.locks.size(); ++i) {
        const Placed &one = parts.locks[i];
        const bool joined = i == 0 && parts.pending;
        const ZnodeView &node = joined ? *parts.pending : *one.member.node;
        Contender waiter = contenderOf(node, joined ? parts.leasesPath : parts.locksPath, servers);
        waiter.mode = Mode::Permit;
        markWaiter(waiter, *one.member.node);
        if (i == 0)
            waiter.watches.push_back({{}, true, Evidence::Inferred});
        else
            waiter.watches.push_back(edgeTo(one, parts.locks[i - 1], previous, parts, servers));
        if (waiter.guard.znode().owner == 0)
            addPersistentNode(lock, waiter.id);
        previous = waiter.id;
        lock.contenders.push_back(std::move(waiter));
    }
}

void addUnknown(LockSnapshot &lock, const std::vector<ZnodeView> &part, const ZPath &path, const Layout &layout)
{
    const auto isForeign = [&](const ZnodeView &node) { return !layout.matchLayout(node, path); };
    addForeignNodes(lock, nodesWhere(part, isForeign), false);
}

} // namespace

std::optional<LockSnapshot> curatorSemaphore(const DirectoryView &directory, const RecogniseContext &context)
{
    const auto leases = directory.parts.find("leases");
    if (leases == directory.parts.end())
        return std::nullopt;
    // While nobody asks for a lease `locks` is empty, and as an empty container the server takes it away.
    const auto queue = directory.parts.find("locks");
    const auto locks = queue == directory.parts.end() ? std::vector<ZnodeView>() : queue->second;
    Parts parts;
    parts.locksPath = directory.path.child(NodeName("locks"));
    parts.leasesPath = directory.path.child(NodeName("leases"));
    parts.locks = placedPart(locks, parts.locksPath, curatorLock);
    parts.leases = placedPart(leases->second, parts.leasesPath, curatorLease);
    // Two empty folders of these names may be anything.
    if (parts.locks.empty() && parts.leases.empty())
        return std::nullopt;
    parts.pending = pendingLease(parts.leases, parts.locks);

    LockSnapshot lock = emptySnapshot(directory.path.bytes(), context);
    lock.recipe = "curator-semaphore";
    lock.client = u"Curator"_s;
    lock.confidence = Confidence::High;
    lock.why = u"%1 in leases named _c_<uuid>-lease-<seq>, %2 in locks; how many may enter is not stored"_s
                   .arg(parts.leases.size())
                   .arg(parts.locks.size());
    lock.companions = {parts.locksPath.bytes(), parts.leasesPath.bytes()};
    addHolders(lock, parts, context);
    addWaiters(lock, parts, context);
    numberAndJudge(lock);
    addUnknown(lock, locks, parts.locksPath, curatorLock);
    addUnknown(lock, leases->second, parts.leasesPath, curatorLease);
    addSessionFindings(lock, context);
    addHerdFinding(lock);
    return lock;
}

} // namespace lockscope::inspect
