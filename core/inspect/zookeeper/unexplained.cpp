// SPDX-License-Identifier: Apache-2.0
// The ephemeral nodes that no lock accounts for. Each of them ends with a client, so each may be a lock of a kind
// that the rules do not know.
#include "core/inspect/ledger.h"
#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/observerjudge.h"

#include <algorithm>
#include <set>

namespace lockscope::inspect {

namespace {

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

std::set<ZPath> pathsOfEphemerals(const DirectoryView &view)
{
    std::set<ZPath> paths;
    eachNode(view, [&paths](const ZPath &folder, const ZnodeView &node) {
        if (!node.stat.ephemeralOwner.isNone())
            paths.insert(folder.child(node.name));
    });
    return paths;
}

} // namespace

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

} // namespace lockscope::inspect
