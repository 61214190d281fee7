// SPDX-License-Identifier: Apache-2.0
#include "core/simulate/servers.h"

#include "core/simulate/mariadb/servers.h"
#include "core/simulate/redis/servers.h"
#include "core/simulate/variants/variants.h"
#include "core/simulate/zookeeper/servers.h"

namespace lockscope::simulate {

std::unique_ptr<Servers> makeServers(const ServersContext &context)
{
    switch (playable(context.scenario.recipe)->backend) {
    case BackendKind::ZooKeeper: return makeZooKeeperServers(context);
    case BackendKind::Redis: return makeRedisServers(context);
    case BackendKind::MariaDb: return makeMariaDbServers(context);
    }
    return {};
}

} // namespace lockscope::simulate
