// SPDX-License-Identifier: Apache-2.0
// How hard observers press their servers.
#pragma once

#include "core/async/loop.h"

#include <algorithm>
#include <utility>

namespace lockscope::inspect {

// After work a rest of so many times as long: at most a tenth of one server's (and our) time.
inline constexpr int restPerWork = 9;

// Measures one kind of work that is done again and again, and the rest that it earns. A stall, the server's or ours,
// makes one turn seem long although the server did nothing: of two turns the shorter one counts. Work that failed is
// not to be measured.
class WorkMeter {
public:
    [[nodiscard]] Duration restAfter(Duration took)
    {
        return std::min(took, std::exchange(m_before, took)) * restPerWork;
    }

private:
    Duration m_before{};
};

} // namespace lockscope::inspect
