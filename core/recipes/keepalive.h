// SPDX-License-Identifier: Apache-2.0
// Keeps something on the server alive that dies by itself: a third of its TTL after it was last
// prolonged it is prolonged again. And says when it may no longer be believed in. Loop thread only.
// Destroying it ends the prolonging.
#pragma once

#include "core/async/scope.h"
#include "core/recipes/lock.h"

namespace lockscope::recipes {

class KeepAlive {
public:
    // Asks the server for this much more. False: it was not ours any more.
    using Prolong = std::function<Task<Result<bool>>(std::chrono::milliseconds ttl, Deadline deadline)>;

    // `asked`: when the request that began it was sent. The server's clock for it cannot have started
    // earlier, so by then plus the TTL (less what clocks may differ) it may be over. Without `prolong`
    // it ends then in any case. `onEnd` is called at most once, from the loop, and must not destroy this.
    KeepAlive(Loop &loop, std::chrono::milliseconds ttl, Instant asked, Prolong prolong,
              std::function<void(Loss)> onEnd);

    // Whether we may still believe in it.
    [[nodiscard]] bool isOver() const { return m_isEnded || m_loop->now() >= m_validUntil; }
    // It was given this much by a request of somebody else, sent then.
    void restart(std::chrono::milliseconds ttl, Instant asked);
    // What a lease asked for at `asked` may be believed for: 1 % and 2 ms less than its TTL.
    [[nodiscard]] static Instant validUntil(Instant asked, std::chrono::milliseconds ttl);

private:
    Task<void> keep();
    void end(Loss loss);

    Loop *m_loop;
    std::chrono::milliseconds m_ttl;
    Instant m_next; // when to prolong
    Instant m_validUntil;
    Prolong m_prolong;
    std::function<void(Loss)> m_onEnd;
    bool m_isEnded = false;
    Scope m_keeping;
};

} // namespace lockscope::recipes
