#include "core/recipes/zookeeper/mutexnames.h"

#include "core/recipes/token.h"

namespace lockscope::recipes {

Claim mutexClaim(const ZPath &directory, Random &random)
{
    Claim claim;
    claim.path = directory.child(NodeName("_c_" + uuidToken(random) + "-lock-"));
    claim.data = hostAddress();
    claim.parentKind = zk::CreateMode::Container;
    return claim;
}

std::vector<Queued> mutexQueue(const Listed &children)
{
    static const QByteArrayList bases{"lock-", "__lock__"};
    return contendersIn(children, bases);
}

} // namespace lockscope::recipes
