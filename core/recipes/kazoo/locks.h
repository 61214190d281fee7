// SPDX-License-Identifier: Apache-2.0
// Locks as kazoo makes them.
#pragma once

#include "core/recipes/zookeeper/queueentry.h"
#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes::kazoo {

// kazoo-lock and kazoo-rwlock: kazoo's Lock, WriteLock and ReadLock, one queue with three ways to read it.
enum class Kind { Lock, WriteLock, ReadLock };

// A new contender for a queue of that kind in `directory`: "<uuid hex>__lock__", readers "__rlock__".
[[nodiscard]] NodeClaim contender(Kind kind, const ZPath &directory, QByteArray data, Random &random);

// Whose turn it is by kazoo's rules, among the names in the directory.
[[nodiscard]] Turn turnOf(Kind kind, const Listed &queue, const NodeName &me);

// Until it is our turn: true; false when our node is in the queue no more.
[[nodiscard]] Task<Result<bool>> untilTurn(zk::Session *session, Kind kind, ZPath node, Listed queue,
                                           Deadline deadline);

class QueueLock : public SessionLock {
public:
    QueueLock(zk::Session &session, ZPath path, Random random, Kind kind);

protected:
    Task<Result<QueueEntry>> enter(Deadline deadline) override;
    [[nodiscard]] bool minds(const ZPath &node) const override;

private:
    Kind m_kind;
};

// kazoo-semaphore: kazoo's Semaphore. One of them is one permit.
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
