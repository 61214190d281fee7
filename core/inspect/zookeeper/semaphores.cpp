// SPDX-License-Identifier: Apache-2.0
// Semaphores of two folders, or of a folder and its guard: Curator's and kazoo's.
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/queue.h"

namespace lockscope::inspect {

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

constexpr int longestNumber = 9;

bool isLease(const ZnodeView &node)
{
    return isHex32(node.name.bytes()) && node.mayBeEphemeral();
}

// kazoo writes the guard's identifier as Python shows bytes: b'worker-1'.
std::optional<QByteArray> unquoted(const std::optional<QByteArray> &identity)
{
    if (!identity || identity->size() < 3 || !identity->startsWith("b'") || !identity->endsWith('\''))
        return identity;
    const QByteArray inner = identity->mid(2, identity->size() - 3);
    return inner.isEmpty() ? std::nullopt : std::optional(inner);
}

void addLeases(LockSnapshot &lock, const DirectoryView &directory, const RecogniseContext &context)
{
    const ServerView servers(context);
    auto leases = nodesWhere(directory.children, isLease);
    // Leases have no number; the order they were made in is the order they were granted in.
    std::ranges::sort(leases, {}, [](const auto *node) { return node->stat.czxid; });
    for (const auto *lease : leases) {
        Contender holder = contenderOf(*lease, directory.path, servers);
        holder.mode = Mode::Permit;
        markHolder(holder, *lease, context);
        holder.heldAtMost = false; // made only when there is room
        lock.contenders.push_back(std::move(holder));
    }
}

void addGuards(LockSnapshot &lock, const std::vector<ZnodeView> &guards, const ZPath &path,
               const RecogniseContext &context)
{
    const auto &layout = layoutNamed("kazoo-lock");
    std::vector<Member> members;
    for (const auto &node : guards) {
        if (auto matched = layout.matchLayout(node, path))
            members.push_back({&node, std::move(*matched)});
    }
    const Description description = layout.describe(members, path);
    LockSnapshot queue = queueLock(path.bytes(), description, std::move(members), path, context);
    for (auto &waiter : queue.contenders) {
        if (waiter.role == Role::Holder) {
            // It holds the guard, not a permit: it watches the pool's children.
            waiter.role = Role::Waiter;
            waiter.watches = {{{}, true, Evidence::Inferred}};
            const auto node = std::ranges::find(guards, waiter.id, [](const auto &n) { return n.name.bytes(); });
            waiter.waitingSince = madeAt(*node);
            waiter.heldSince.reset();
            waiter.heldAtMost = false;
        }
        waiter.mode = Mode::Permit;
        waiter.identity = unquoted(waiter.identity);
        lock.contenders.push_back(std::move(waiter));
    }
    // Only what concerns the waiters; who holds is judged on the whole.
    for (auto &finding : queue.findings) {
        if (finding.code != FindingCode::HolderDisconnected && finding.code != FindingCode::StaleQueue
            && finding.code != FindingCode::Herd)
            lock.findings.push_back(std::move(finding));
    }
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
    parts.locks = placedPart(locks, parts.locksPath, layoutNamed("curator-lock"));
    parts.leases = placedPart(leases->second, parts.leasesPath, layoutNamed("curator-lease"));
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
    if (parts.pending) // its maker is known by the lease
        lock.companions.push_back(parts.locksPath.child(parts.locks.front().member.node->name).bytes());
    addHolders(lock, parts, context);
    addWaiters(lock, parts, context);
    numberAndJudge(lock);
    addUnknown(lock, locks, parts.locksPath, layoutNamed("curator-lock"));
    addUnknown(lock, leases->second, parts.leasesPath, layoutNamed("curator-lease"));
    addSessionFindings(lock, context);
    addHerdFinding(lock);
    return lock;
}

// kazoo's Semaphore: the pool's data is the number of leases, each lease an ephemeral <hex32>, and a
// lock in the sibling "<pool>-__lock__" decides who may make the next one.
QByteArray kazooGuardName(const ZPath &pool)
{
    return pool.name().bytes() + "-__lock__";
}

std::optional<LockSnapshot> kazooSemaphore(const DirectoryView &directory, const RecogniseContext &context)
{
    const auto guard = directory.parts.find(kazooGuardName(directory.path));
    if (guard == directory.parts.end() || !isDigits(directory.data) || directory.data.size() > longestNumber)
        return std::nullopt;
    const ZPath guardPath = directory.path.parent().child(NodeName(guard->first));
    LockSnapshot lock = emptySnapshot(directory.path.bytes(), context);
    lock.recipe = "kazoo-semaphore";
    lock.client = u"kazoo"_s;
    lock.confidence = Confidence::High;
    lock.companions = {guardPath.bytes()};
    addLeases(lock, directory, context);
    lock.why = u"%1 leases named <uuid>, at most %2 by the node's data, beside a guard <pool>-__lock__"_s.arg(
        QString::number(lock.contenders.size()), QString::fromLatin1(directory.data));
    addGuards(lock, guard->second, guardPath, context);
    numberAndJudge(lock);
    addForeignNodes(lock, nodesWhere(directory.children, std::not_fn(isLease)), false);
    addSessionFindings(lock, context);
    addHerdFinding(lock);
    return lock;
}

} // namespace lockscope::inspect
