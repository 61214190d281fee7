// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/sharednames.h"

#include "core/recipes/token.h"

namespace lockscope::recipes {

namespace {

constexpr auto reader = "-R-";
constexpr auto writer = "-W-";

} // namespace

NodeClaim sharedClaim(const ZPath &directory, Access access, Random &random)
{
    const QByteArray address = hostAddress();
    const QByteArray host = address.isEmpty() ? QByteArray("localhost") : address;
    NodeClaim claim;
    claim.path = directory.child(NodeName(host + (access == Access::Shared ? reader : writer)));
    claim.data = host + ' ' + uuidToken(random);
    return claim;
}

std::vector<Queued> sharedQueue(const Listed &children)
{
    std::vector<Queued> queue;
    queue.reserve(children.names.size());
    for (const auto &name : children.names) {
        if (const auto read = readSequence(name, reader))
            queue.push_back({*read, Access::Shared});
        else if (const auto write = readSequence(name, writer))
            queue.push_back({*write, Access::Exclusive});
    }
    sortQueue(queue);
    return queue;
}

} // namespace lockscope::recipes
