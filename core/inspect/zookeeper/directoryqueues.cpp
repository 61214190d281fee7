// SPDX-License-Identifier: Apache-2.0
// Which queue locks a directory is, or holds: one lock, several flat ones, or siblings that merely
// look like a queue.
#include "core/inspect/words.h"
#include "core/inspect/zookeeper/queue.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

namespace {

bool isEphemeral(const Member &member)
{
    return !member.node->stat.ephemeralOwner.isNone();
}

std::vector<Member> claimedMembers(const DirectoryView &directory)
{
    std::vector<Member> out;
    for (const auto &child : directory.children) {
        if (isNoLock(directory.path, child.name))
            continue;
        if (auto claimed = claim(child, directory.path))
            out.push_back({&child, std::move(*claimed)});
    }
    return out;
}

// Persistent sequential siblings are messages, not locks, unless a client's own names say otherwise.
std::optional<Layout> leadingLayout(const std::vector<Member> &members)
{
    std::optional<Layout> leading;
    for (const auto &one : members) {
        if (!isEphemeral(one) && !isUnmistakable(one.claim.layout))
            continue;
        if (!leading || one.claim.layout < *leading)
            leading = one.claim.layout;
    }
    return leading;
}

std::map<QByteArray, std::vector<Member>> grouped(const std::vector<Member> &members, Layout layout)
{
    std::map<QByteArray, std::vector<Member>> out;
    for (const auto &one : members) {
        if (one.claim.layout == layout && isEphemeral(one))
            out[one.claim.group].push_back(one);
    }
    return out;
}

std::vector<LockPicture> flatLocks(const std::vector<Member> &members, const DirectoryView &directory,
                                   const RecogniseContext &context)
{
    std::vector<LockPicture> locks;
    for (auto &[group, queue] : grouped(members, Layout::Flat)) {
        const Description description = describe(Layout::Flat, queue, directory.path);
        const QByteArray name = directory.path.child(NodeName(group)).bytes();
        locks.push_back(queueLock(name, description, queue, directory.path, context));
    }
    return locks;
}

// Siblings of no known name: a queue if there are several, or if a name says so.
std::vector<LockPicture> genericLocks(const std::vector<Member> &members, const DirectoryView &directory,
                                      const RecogniseContext &context)
{
    auto groups = grouped(members, Layout::Generic);
    std::erase_if(groups, [&directory](const auto &entry) {
        return entry.second.size() < 2 && !saysLock(entry.first) && !saysLock(directory.path.name().bytes());
    });
    std::vector<LockPicture> locks;
    for (auto &[group, queue] : groups) {
        const Description description = describe(Layout::Generic, queue, directory.path);
        QByteArray base = group;
        while (base.endsWith('-') || base.endsWith('_'))
            base.chop(1);
        const bool several = groups.size() > 1 && !base.isEmpty();
        const ZPath name = several ? directory.path.child(NodeName(base)) : directory.path;
        locks.push_back(queueLock(name.bytes(), description, queue, directory.path, context));
    }
    return locks;
}

} // namespace

QueueLocks queueLocks(const DirectoryView &directory, const RecogniseContext &context)
{
    const auto members = claimedMembers(directory);
    const auto leading = leadingLayout(members);
    if (!leading)
        return {};
    if (*leading == Layout::Flat)
        return {flatLocks(members, directory, context), false};
    if (*leading == Layout::Generic)
        return {genericLocks(members, directory, context), false};

    std::vector<Member> queue;
    std::set<const ZnodeView *> known;
    for (const auto &one : members) {
        if (queueTogether(*leading, one.claim.layout)) {
            queue.push_back(one);
            known.insert(one.node);
        }
    }
    std::vector<const ZnodeView *> foreign;
    for (const auto &child : directory.children) {
        if (!known.contains(&child) && !isNoLock(directory.path, child.name) && child.name.bytes() != "lease_holder")
            foreign.push_back(&child);
    }
    const Description description = describe(*leading, queue, directory.path);
    LockPicture lock = queueLock(directory.path.bytes(), description, std::move(queue), directory.path, context);
    addForeignNodes(lock, foreign, *leading == Layout::GoLock);
    return {{std::move(lock)}, true};
}

} // namespace lockscope::inspect
