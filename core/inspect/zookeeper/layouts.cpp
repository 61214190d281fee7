// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/layouts.h"

namespace lockscope::inspect {

extern const Layout curatorReadWrite, curatorLatch, javaRecipe, cRecipe, solrElection, electionSupport,
    clickHouseElection, hiveTable, hbaseTable, dotNetReadWrite, dotNetSemaphore, rubyLock, rubySemaphore,
    rubyElection, rustLatch, textbookShared, herdNode, flatLock, plainLock, anySequence;

// A name belongs to the first that fits, and in a mixed directory the first one present names the lock. So the names
// that only one client writes come first, then those of known systems, then what anybody may have called a node; of
// one client the lock with more to it (read and write, leases) before the plain one, whose names may stand beside it.
const std::vector<const Layout *> &layouts()
{
    static const std::vector<const Layout *> inOrder{
        &curatorReadWrite, &curatorLease,       &curatorLatch,  &curatorLock,  &goLock,
        &kazooRead,        &kazooLock,          &javaRecipe,    &cRecipe,      &solrElection,
        &electionSupport,  &clickHouseElection, &hiveTable,     &hbaseTable,   &dotNetReadWrite,
        &dotNetSemaphore,  &rubyLock,           &rubySemaphore, &rubyElection, &rustLatch,
        &textbookShared,   &herdNode,           &flatLock,      &plainLock,    &anySequence,
    };
    return inOrder;
}

std::optional<LayoutMatch> Layout::matchName(const NodeName &name) const
{
    for (const auto &form : names) {
        // Each name is asked about in every row, and few have the length.
        const auto before = lengthOf(form.protection);
        const auto digits = name.bytes().size() - before - form.base.size();
        if (digits < recipes::leastDigits || digits > recipes::mostDigits)
            continue;
        auto sequence = sequenceAt(name, before, form.base);
        const bool isProtected = form.protection != Protection::None;
        if (sequence && (!isProtected || readProtection(name.bytes()).kind == form.protection))
            return LayoutMatch{this, std::move(*sequence), form.access, {}};
    }
    return std::nullopt;
}

std::optional<LayoutMatch> Layout::matchLayout(const ZnodeView &node, const ZPath &directory) const
{
    const bool isElsewhere = !below.isEmpty() && directory.parent().name().bytes() != below;
    if (isElsewhere || (isEphemeralOnly && !node.mayBeEphemeral()))
        return std::nullopt;
    return matches ? matches(*this, node) : matchName(node.name);
}

Description Layout::describe(const std::vector<Member> &members, const ZPath &directory) const
{
    Description out = description;
    if (refine)
        refine(out, members, directory);
    return out;
}

std::optional<LayoutMatch> matchLayout(const ZnodeView &node, const ZPath &directory)
{
    for (const auto *layout : layouts()) {
        if (auto matched = layout->matchLayout(node, directory))
            return matched;
    }
    return std::nullopt;
}

} // namespace lockscope::inspect
