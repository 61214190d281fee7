#include "core/recipes/zookeeper/mutexnames.h"

namespace lockscope::recipes {

Claim mutexClaim(const ZPath &directory, Random &random)
{
    return protectedClaim(directory, mutexBase, random);
}

std::vector<Queued> mutexQueue(const Listed &children, const NodeName &me, int ahead)
{
    static const QByteArrayList bases{"lock-", "__lock__"};
    return contendersBefore(children, bases, me, ahead);
}

} // namespace lockscope::recipes
