// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/observercandidates.h"

#include "core/inspect/observer.h"

#include <algorithm>

namespace lockscope::inspect {

QByteArray searchRoot(const QByteArray &glob)
{
    const auto isLiteral = [](char c) { return c != '*' && c != '?' && c != '[' && c != '\\'; };
    const auto literal = glob.left(std::ranges::find_if_not(glob, isLiteral) - glob.begin());
    const auto slash = literal.indexOf('/');
    // Before a path there is nothing, or a connection's name.
    if (slash < 0 || (slash > 0 && literal.at(slash - 1) != ':'))
        return {};
    const auto path = literal.mid(slash);
    return path.left(path.lastIndexOf('/'));
}

NamesByParent ephemeralsBelow(const zk::Evidence &evidence, const QByteArray &chroot)
{
    const QByteArray prefix = chroot == "/" ? QByteArray() : chroot;
    NamesByParent names;
    for (const auto &[session, paths] : evidence.ephemerals) {
        for (const auto &full : paths) {
            const auto &bytes = full.bytes();
            // "/apps" is above "/apps/x" and not above "/apps2/x".
            if (!bytes.startsWith(prefix) || bytes.size() <= prefix.size() + 1 || bytes.at(prefix.size()) != '/')
                continue;
            const ZPath path(bytes.mid(prefix.size()));
            names[path.parent()].push_back(path.name());
        }
    }
    return names;
}

Candidates candidates(const NamesByParent &names)
{
    Candidates found;
    for (const auto &[parent, children] : names) {
        const auto directory = candidateDirectory(parent, children);
        if (!directory)
            continue;
        auto &nodes = found[*directory];
        for (const auto &name : children)
            nodes.push_back(parent.child(name));
    }
    for (auto &[directory, nodes] : found)
        std::ranges::sort(nodes);
    return found;
}

} // namespace lockscope::inspect
