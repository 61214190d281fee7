// SPDX-License-Identifier: Apache-2.0
// What Curator's Revoker writes into a holder's node to ask it to let go.
#pragma once

namespace lockscope::recipes {

inline constexpr char revocationMark[] = "__REVOKE__";

} // namespace lockscope::recipes
