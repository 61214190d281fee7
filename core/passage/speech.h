// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/passage/prelude.h"

#include <memory>

namespace lockscope::passage {

// What is spoken on the far side of a door.
struct Speech {
    bool isTls = false; // or what the client says, as it is
    // Of a protocol in which TLS begins later, or whose login is watched; null: TLS at once, or nothing.
    std::unique_ptr<Prelude> (*prelude)(const QString &host) = nullptr;
    friend bool operator==(const Speech &, const Speech &) = default;
};

// Of a protocol whose login may ask for the password itself: as verified as the way is.
struct SqlSpeech {
    Speech verified;   // by TLS
    Speech unverified; // TLS with whoever answers
    Speech plain;
};

inline constexpr Speech asItIs{};
inline constexpr Speech throughoutTls{true};

} // namespace lockscope::passage
