// SPDX-License-Identifier: Apache-2.0
// Revocation. Source: Apache Curator, Revoker and InterProcessMutex.makeRevocable().
//   1. The asker sets the data of the holder's node to "__REVOKE__".
//   2. The holder reads its own node with a watch. The mark is there: it was asked.
//   3. Otherwise it waits until the data changes. Go to 2.
#include "core/recipes/curator/locks.h"

#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

Task<Result<void>> requestRevocation(zk::Session *session, ZPath holder, Deadline deadline)
{
    auto connected = co_await untilConnected(session, deadline);
    while (connected) {
        auto setting = session->set(holder, revocationMark, zk::anyVersion, answerBy(*session, deadline));
        const auto set = co_await setting; // 1
        if (set)
            co_return Result<void>();
        if (!isConnectionError(set.error()))
            co_return set.error();
        connected = co_await untilReconnected(session, deadline);
    }
    co_return connected;
}

Task<Result<bool>> untilRevocationRequested(zk::Session *session, ZPath ourNode, Deadline deadline)
{
    auto connected = co_await untilConnected(session, deadline);
    while (connected) {
        const zk::Watch watch(session->loop());
        auto reading = session->get(ourNode, watch, answerBy(*session, deadline));
        const auto read = co_await reading; // 2
        if (read && read->data == revocationMark)
            co_return true;
        if (read) {
            connected = co_await untilFired(session, watch, deadline); // 3
        } else if (read.error().code == ErrorCode::NoNode) {
            co_return false;
        } else if (isConnectionError(read.error())) {
            connected = co_await untilReconnected(session, deadline);
        } else {
            co_return read.error();
        }
    }
    co_return connected.error();
}

} // namespace lockscope::recipes
