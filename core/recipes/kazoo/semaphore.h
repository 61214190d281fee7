// SPDX-License-Identifier: Apache-2.0
// kazoo-semaphore: kazoo's Semaphore. One of them is one permit.
#pragma once

#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes::kazoo {

class Semaphore : public SessionLock {
public:
    // `mayMake`: a pool that is missing is made, with so many permits.
    Semaphore(zk::Session &session, ZPath pool, int limit, Random random, bool mayMake = true);

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;

private:
    [[nodiscard]] NodeClaim guard();
    [[nodiscard]] NodeClaim lease();
    // How many leases are out; the pool is made if it is missing. `asked` is a read of the pool that was
    // sent already. BadInput when the pool has another number of permits.
    Task<Result<int>> leasesOut(Reply<zk::Node> asked, Deadline deadline);
    Task<Result<void>> makePool(Deadline deadline);
    // Until there is room, as far as we know, starting with so many leases out.
    Task<Result<void>> untilRoom(int leases, Deadline deadline);

    int m_limit;
    bool m_mayMake;
};

} // namespace lockscope::recipes::kazoo
