#include "core/simulate/servers.h"

namespace lockscope::simulate {

std::unique_ptr<Servers> makeServers(const ServersContext &)
{
    return {};
}

} // namespace lockscope::simulate
