// SPDX-License-Identifier: Apache-2.0
// Keeps a lease of etcd alive, as the Go client's session does: asks anew when a third of its time has passed. And
// says when it may no longer be believed in. Loop thread only; the client outlives it. Destroying it ends that.
#pragma once

#include "core/async/scope.h"
#include "core/etcd/client.h"

namespace lockscope::recipes {

class LeaseKeeper {
public:
    // `asked`: when the request that granted it was sent: by then plus its time it may be over. `onEnd` is called at
    // most once, from the loop, and must not destroy this.
    LeaseKeeper(etcd::Client &client, etcd::LeaseId id, std::chrono::seconds ttl, Instant asked,
                std::function<void()> onEnd);

    // The server said that it is gone before its time: somebody revoked it.
    [[nodiscard]] bool wasRevoked() const { return m_wasRevoked; }
    [[nodiscard]] bool isOver() const { return m_isEnded || m_client.loop().now() >= m_validUntil; }

private:
    Task<void> keep();
    void granted(std::chrono::seconds ttl, Instant asked);
    void end();

    etcd::Client &m_client;
    const etcd::LeaseId m_id;
    std::function<void()> m_onEnd;
    Duration m_ttl{};
    Instant m_next{};
    Instant m_validUntil{};
    bool m_isEnded = false, m_wasRevoked = false;
    Scope m_keeping;
};

} // namespace lockscope::recipes
