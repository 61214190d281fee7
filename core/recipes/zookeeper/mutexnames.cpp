#include "core/recipes/zookeeper/mutexnames.h"

namespace lockscope::recipes {

Claim mutexClaim(const ZPath &directory, Random &random)
{
    return protectedClaim(directory, mutexBase, random);
}

std::vector<Queued> mutexQueue(const Listed &children)
{
    static const QByteArrayList bases{"lock-", "__lock__"};
    return contendersIn(children, bases);
}

} // namespace lockscope::recipes
