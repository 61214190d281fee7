// SPDX-License-Identifier: Apache-2.0
// Which queue locks a directory is, or holds: one lock, several flat ones, or siblings that merely
// look like a queue.
#include "core/inspect/lockterms.h"
#include "core/inspect/zookeeper/queue.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

using namespace Qt::StringLiterals;

namespace {

bool isEphemeral(const Member &member)
{
    return !member.node->stat.ephemeralOwner.isNone();
}

std::vector<Member> matchedMembers(const DirectoryView &directory)
{
    std::vector<Member> out;
    for (const auto &child : directory.children) {
        if (isNoLock(directory.path, child.name))
            continue;
        if (auto matched = matchLayout(child, directory.path))
            out.push_back({&child, std::move(*matched)});
    }
    return out;
}

// Persistent sequential siblings are messages, not locks, unless a client's own names say otherwise.
const Layout *leadingLayout(const std::vector<Member> &members)
{
    const auto leads = [&members](const Layout *layout) {
        return std::ranges::any_of(members, [layout](const Member &one) {
            return one.match.layout == layout && (layout->isUnmistakable || isEphemeral(one));
        });
    };
    const auto found = std::ranges::find_if(layouts(), leads);
    return found == layouts().end() ? nullptr : *found;
}

// Names say little here; a server that lists each waiter's watch of its predecessor says much.
bool watchesProveIt(const LockSnapshot &lock)
{
    const auto isProven = [&lock](const Contender &one) {
        if (one.role == Role::Holder)
            return true;
        const auto before = *one.position - 1;
        return std::ranges::any_of(one.watches, [&](const WatchEdge &edge) {
            return edge.evidence == Evidence::Server && !edge.children
                   && edge.target == lock.contenders[static_cast<std::size_t>(before)].id;
        });
    };
    return lock.waiterCount() > 0 && std::ranges::all_of(lock.contenders, isProven);
}

std::map<QByteArray, std::vector<Member>> grouped(const std::vector<Member> &members, const Layout &layout)
{
    std::map<QByteArray, std::vector<Member>> out;
    for (const auto &one : members) {
        if (one.match.layout == &layout && one.node->mayBeEphemeral())
            out[one.match.group].push_back(one);
    }
    if (!layout.isUnmistakable)
        std::erase_if(out, [](const auto &entry) { return std::ranges::none_of(entry.second, isEphemeral); });
    return out;
}

std::vector<LockSnapshot> flatLocks(const Layout &layout, const std::vector<Member> &members,
                                    const DirectoryView &directory, const RecogniseContext &context)
{
    std::vector<LockSnapshot> locks;
    for (auto &[group, queue] : grouped(members, layout)) {
        const Description description = layout.describe(queue, directory.path);
        const QByteArray name = directory.path.child(NodeName(group)).bytes();
        locks.push_back(queueLock(name, description, queue, directory.path, context));
    }
    return locks;
}

// Siblings of no known name: a queue if there are several, or if a name says so.
std::vector<LockSnapshot> siblingLocks(const Layout &layout, const std::vector<Member> &members,
                                       const DirectoryView &directory, const RecogniseContext &context)
{
    auto groups = grouped(members, layout);
    std::erase_if(groups, [&directory](const auto &entry) {
        return entry.second.size() < 2 && !saysLock(entry.first) && !saysLock(directory.path.name().bytes());
    });
    std::vector<LockSnapshot> locks;
    for (auto &[group, queue] : groups) {
        const Description description = layout.describe(queue, directory.path);
        QByteArray base = group;
        while (base.endsWith('-') || base.endsWith('_'))
            base.chop(1);
        const bool several = groups.size() > 1 && !base.isEmpty();
        const ZPath name = several ? directory.path.child(NodeName(base)) : directory.path;
        locks.push_back(queueLock(name.bytes(), description, queue, directory.path, context));
        if (watchesProveIt(locks.back())) {
            locks.back().confidence = Confidence::Medium;
            locks.back().why += u", and each waiter watches the one before it, as a server reports"_s;
        }
    }
    return locks;
}

// Clients that read each other's names are one queue: it is not only the leading one's.
void nameEveryClient(Description &description, const std::vector<Member> &members)
{
    const bool hasGo = std::ranges::any_of(members, [](const Member &one) { return one.match.layout == &goLock; });
    if (!hasGo || !description.client || *description.client == *goLock.description.client)
        return;
    description.client = *description.client + u" and "_s + *goLock.description.client;
    description.recipeOfSemaphore = {}; // it has none
}

} // namespace

QueueLocks queueLocks(const DirectoryView &directory, const RecogniseContext &context)
{
    const auto members = matchedMembers(directory);
    const auto *leading = leadingLayout(members);
    if (!leading)
        return {};
    if (leading->extent == Layout::Extent::Flat)
        return {flatLocks(*leading, members, directory, context), false};
    if (leading->extent == Layout::Extent::Siblings)
        return {siblingLocks(*leading, members, directory, context), false};

    std::vector<Member> queue;
    std::set<const ZnodeView *> known;
    for (const auto &one : members) {
        if (leading->queuesWith(*one.match.layout)) {
            queue.push_back(one);
            known.insert(one.node);
        }
    }
    std::vector<const ZnodeView *> foreign;
    for (const auto &child : directory.children) {
        if (!known.contains(&child) && !isNoLock(directory.path, child.name) && child.name.bytes() != "lease_holder")
            foreign.push_back(&child);
    }
    Description description = leading->describe(queue, directory.path);
    nameEveryClient(description, queue);
    QueueLocks out;
    out.claimsDirectory = true;
    out.locks.push_back(queueLock(directory.path.bytes(), description, std::move(queue), directory.path, context));
    addForeignNodes(out.locks.back(), foreign, leading->breaksBesideForeignNodes);
    return out;
}

} // namespace lockscope::inspect
