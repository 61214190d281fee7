// SPDX-License-Identifier: Apache-2.0
// kazoo-lock and kazoo-rwlock: kazoo's Lock, WriteLock and ReadLock, one queue with three ways to read it.
#pragma once

#include "core/recipes/zookeeper/joinqueue.h"
#include "core/recipes/zookeeper/sessionlock.h"

namespace lockscope::recipes::kazoo {

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

} // namespace lockscope::recipes::kazoo
