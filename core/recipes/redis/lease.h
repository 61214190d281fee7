// A lease: a key of ours that dies by itself, kept alive while we hold it. A third of the TTL after it
// was last prolonged it is prolonged again, by a script that compares our token first. Loop thread only;
// the connection outlives it. Destroying it ends the prolonging.
#pragma once

#include "core/recipes/lock.h"
#include "core/recipes/redis/tokenkey.h"

namespace lockscope::recipes {

class Lease {
public:
    // `asked`: when the request that began it was sent. The server's clock for it cannot have started
    // earlier, so by then plus the TTL (less what clocks may differ) it may be over. `onEnd` is called
    // at most once, from the loop, and must not destroy the lease.
    Lease(redis::Connection &connection, TokenKey ours, std::chrono::milliseconds ttl, Instant asked,
          std::function<void(Loss)> onEnd);

    [[nodiscard]] const TokenKey &key() const { return m_ours; }
    // Whether we may still believe in it.
    [[nodiscard]] bool isOver() const;
    // What a lease asked for at `asked` may be believed for: 1 % and 2 ms less than its TTL.
    [[nodiscard]] static Instant validUntil(Instant asked, std::chrono::milliseconds ttl);

private:
    Task<void> keep(Instant asked);
    void end(Loss loss);

    redis::Connection *m_connection;
    TokenKey m_ours;
    std::chrono::milliseconds m_ttl;
    Instant m_validUntil;
    std::function<void(Loss)> m_onEnd;
    bool m_isEnded = false;
    Scope m_keeping;
};

} // namespace lockscope::recipes
