// SPDX-License-Identifier: Apache-2.0
#include "core/contention/servers.h"

#include "core/contention/mariadbservers.h"
#include "core/contention/mutants/mutants.h"
#include "core/contention/redisservers.h"
#include "core/contention/zookeeperservers.h"

namespace lockscope::contention {

std::unique_ptr<Servers> makeServers(const ServersContext &context)
{
    switch (playable(context.scenario.recipe)->backend) {
    case BackendKind::ZooKeeper: return makeZooKeeperServers(context);
    case BackendKind::Redis: return makeRedisServers(context);
    case BackendKind::MariaDb: return makeMariaDbServers(context);
    }
    return {};
}

} // namespace lockscope::contention
