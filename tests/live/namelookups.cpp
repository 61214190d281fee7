// SPDX-License-Identifier: Apache-2.0
#include "tests/live/namelookups.h"

#include <atomic>

#include <dlfcn.h>
#include <netdb.h>

namespace {

std::atomic<int> lookups = 0;

} // namespace

int lockscope::testing::namesLookedUp()
{
    return lookups;
}

extern "C" int getaddrinfo(const char *node, const char *service, const addrinfo *hints, addrinfo **found)
{
    static const auto systems = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
    ++lookups;
    return systems(node, service, hints, found);
}
