// SPDX-License-Identifier: Apache-2.0
// kazoo's queue nodes: <hex32>__lock__<seq> and <hex32>__rlock__<seq>.
#include "core/inspect/findings.h"
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/queue.h"
#include "core/inspect/zookeeper/serverview.h"

#include <algorithm>

namespace lockscope::inspect {

const Layout kazooRead{
    .names = {{"__rlock__", Protection::Kazoo, recipes::Access::Shared}},
    .description = {.recipe = "kazoo-rwlock",
                    .client = u"kazoo"_s,
                    .form = u"<uuid>__lock__<seq> or __rlock__"_s,
                    .confidence = Confidence::High,
                    .discipline = Discipline::ReadWrite,
                    .mode = Mode::Write,
                    .watchesAreCertain = true},
    .queues = Layout::KazooQueue,
    .isUnmistakable = true,
};

const Layout kazooLock{
    .names = {{"__lock__", Protection::Kazoo}},
    .description = {.recipe = "kazoo-lock",
                    .client = u"kazoo"_s,
                    .form = u"<uuid>__lock__<seq>"_s,
                    .note = u"a write lock without readers and an election look the same"_s,
                    .confidence = Confidence::Medium,
                    .watchesAreCertain = true},
    .queues = Layout::CuratorLikeQueue | Layout::KazooQueue,
    .isUnmistakable = true,
    .seesOnlyItsOwnNames = true,
};

// kazoo's Semaphore: the pool's data is the number of leases, each lease an ephemeral <hex32>, and a
// lock in the sibling "<pool>-__lock__" decides who may make the next one.
namespace {

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
    std::vector<Member> members;
    for (const auto &node : guards) {
        if (auto matched = kazooLock.matchLayout(node, path))
            members.push_back({&node, std::move(*matched)});
    }
    const Description description = kazooLock.describe(members, path);
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
