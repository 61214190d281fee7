// SPDX-License-Identifier: Apache-2.0
// How many names this program has asked the system to look up: the library's lookups, too, for getaddrinfo() is ours
// here and passes on what it is asked.
#pragma once

namespace lockscope::testing {

[[nodiscard]] int namesLookedUp();

} // namespace lockscope::testing
