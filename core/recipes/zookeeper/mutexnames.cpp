// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/mutexnames.h"

namespace lockscope::recipes {

NodeClaim mutexClaim(const ZPath &directory, Random &random)
{
    return protectedClaim(directory, mutexBase, random);
}

namespace {

const QByteArrayList bases{"lock-", "__lock__"};

} // namespace

std::vector<Queued> mutexQueue(const Listed &children)
{
    return contendersIn(children, bases);
}

std::vector<Queued> mutexQueue(const Listed &children, const NodeName &me, int ahead)
{
    return contendersBefore(children, bases, me, ahead);
}

bool isInMutexQueue(const ZPath &directory, const ZPath &node)
{
    return isIn(directory, node) && !mutexQueue(onlyThat(node.name())).empty();
}

} // namespace lockscope::recipes
