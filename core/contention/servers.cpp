// SPDX-License-Identifier: Apache-2.0
#include "core/contention/servers.h"

#include "core/contention/mutants/mutants.h"

#include <array>

namespace lockscope::contention {

std::unique_ptr<Servers> makeServers(const ServersContext &context)
{
#define LOCKSCOPE_SERVERS(Name) &make##Name##Servers,
    constexpr std::array makers{LOCKSCOPE_BACKENDS(LOCKSCOPE_SERVERS)};
#undef LOCKSCOPE_SERVERS
    return makers[static_cast<std::size_t>(playable(context.scenario.recipe)->backend)](context);
}

} // namespace lockscope::contention
