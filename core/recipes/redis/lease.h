// SPDX-License-Identifier: Apache-2.0
// A lease: a key with our token that dies by itself, kept alive while we hold it, by a script that
// compares our token first. Loop thread only; the connection outlives it. Destroying it ends the
// prolonging.
#pragma once

#include "core/recipes/keepalive.h"
#include "core/recipes/redis/tokenkey.h"

namespace lockscope::recipes {

class Lease {
public:
    // As for a KeepAlive.
    Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
          std::function<void(Loss)> onEnd);

    [[nodiscard]] const TokenKey &key() const { return m_ours; }
    [[nodiscard]] bool isOver() const { return m_life.isOver(); }

private:
    TokenKey m_ours;
    KeepAlive m_life;
};

} // namespace lockscope::recipes
