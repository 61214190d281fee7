// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/passage/prelude.h"

#include <memory>

namespace lockscope::passage {

// What is spoken on the far side of a door.
struct Speech {
    bool isTls = false;                              // or what the client says, as it is
    std::unique_ptr<Prelude> (*prelude)() = nullptr; // of a protocol in which TLS begins later; null: at once
    friend bool operator==(const Speech &, const Speech &) = default;
};

inline constexpr Speech asItIs{};
inline constexpr Speech throughoutTls{true};

} // namespace lockscope::passage
