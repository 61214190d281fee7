// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/layouts.h"

namespace lockscope::inspect {

bool isUnmistakable(Layout layout)
{
    return layout <= Layout::KazooLock;
}

bool queueTogether(Layout first, Layout other)
{
    if (first == other)
        return true;
    // go-zookeeper reads Curator's and kazoo's names, kazoo reads others' with a pattern.
    const auto isPlainQueue = [](Layout layout) {
        return layout == Layout::CuratorLock || layout == Layout::GoLock || layout == Layout::KazooLock;
    };
    if (isPlainQueue(first) && isPlainQueue(other))
        return true;
    const auto isKazoo = [](Layout layout) { return layout == Layout::KazooRead || layout == Layout::KazooLock; };
    if (isKazoo(first) && isKazoo(other))
        return true;
    // The Java and the C recipe write the same names but for the radix.
    const auto isRecipe = [](Layout layout) { return layout == Layout::JavaRecipe || layout == Layout::CRecipe; };
    return isRecipe(first) && isRecipe(other);
}

std::optional<Claim> claim(const ZnodeView &node, const ZPath &directory)
{
    using Rule = std::optional<Claim> (*)(const ZnodeView &, const ZPath &);
    static constexpr Rule rules[] = {claimCurator,  claimKazoo,        claimZooKeeperRecipe,
                                     claimElection, claimOtherClients, claimConvention};
    for (const Rule rule : rules) {
        if (auto claimed = rule(node, directory))
            return claimed;
    }
    return std::nullopt;
}

Description describe(Layout layout, const std::vector<Member> &members, const ZPath &directory)
{
    switch (layout) {
    case Layout::CuratorReadWrite:
    case Layout::CuratorLease:
    case Layout::CuratorLatch:
    case Layout::CuratorLock:
    case Layout::GoLock:
        return describeCurator(layout, members, directory);
    case Layout::KazooRead:
    case Layout::KazooLock:
        return describeKazoo(members);
    case Layout::JavaRecipe:
    case Layout::CRecipe:
        return describeZooKeeperRecipe(layout);
    case Layout::SolrElection:
    case Layout::ElectionSupport:
    case Layout::ClickHouseElection:
        return describeElection(layout);
    case Layout::HBaseTable:
    case Layout::DotNetReadWrite:
    case Layout::DotNetSemaphore:
    case Layout::RubyLock:
    case Layout::RubySemaphore:
    case Layout::RubyElection:
        return describeOtherClients(layout, members);
    case Layout::TextbookShared:
    case Layout::Herd:
    case Layout::Flat:
    case Layout::PlainLock:
    case Layout::Generic:
        break;
    }
    return describeConvention(layout, members);
}

} // namespace lockscope::inspect
