// How many of N independent nodes are enough, and until when so many of them stand. Pure: Redlock holds
// by it, and the inspector says by it who holds.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace lockscope::recipes {

// More than half: two quorums always share a node.
[[nodiscard]] constexpr int quorumOf(int nodes)
{
    return nodes / 2 + 1;
}

// Until when a quorum of `nodes` stands, if `ends` says for each node that stands at all when it ends:
// the quorum-th latest of them. Empty when fewer than a quorum stand.
template <class Moment>
[[nodiscard]] std::optional<Moment> quorumUntil(std::vector<Moment> ends, int nodes)
{
    const auto enough = static_cast<std::size_t>(quorumOf(nodes));
    if (ends.size() < enough)
        return std::nullopt;
    std::sort(ends.begin(), ends.end(), std::greater<Moment>());
    return ends[enough - 1];
}

} // namespace lockscope::recipes
