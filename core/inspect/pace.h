// SPDX-License-Identifier: Apache-2.0
// How hard observers press their servers.
#pragma once

namespace lockscope::inspect {

// After work a rest of so many times as long: at most a tenth of one server's (and our) time.
inline constexpr int restPerWork = 9;

} // namespace lockscope::inspect
