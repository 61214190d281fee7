// SPDX-License-Identifier: Apache-2.0
// There is no simulated etcd: a scenario of its recipes is refused before (Scenario::check).
#include "core/contention/servers.h"

namespace lockscope::contention {

std::unique_ptr<Servers> makeEtcdServers(const ServersContext &)
{
    qFatal("there is no simulated etcd");
    return nullptr;
}

} // namespace lockscope::contention
