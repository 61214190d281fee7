// SPDX-License-Identifier: Apache-2.0
// A client's side of Curator's revocation, as Revoker and InterProcessMutex.makeRevocable() do it.
//   1. The asker sets the data of the holder's node to "__REVOKE__".
//   2. The holder reads its own node with a watch. The mark is there: it was asked.
//   3. Otherwise it waits until the data changes. Go to 2.
#pragma once

#include "core/recipes/zookeeper/queueentry.h"
#include "core/rules/turn.h"

namespace lockscope::testing {

// NoNode when no holder can be asked any more. Sent again over broken connections until the deadline.
inline Task<Result<void>> requestRevocation(zk::Session *session, ZPath holder, Deadline deadline)
{
    auto connected = co_await recipes::untilConnected(session, deadline);
    while (connected) {
        auto setting =
            session->set(holder, recipes::revocationMark, zk::anyVersion, recipes::answerBy(*session, deadline));
        const auto set = co_await setting; // 1
        if (set)
            co_return Result<void>();
        if (!recipes::isConnectionError(set.error()))
            co_return set.error();
        connected = co_await recipes::untilReconnected(session, deadline);
    }
    co_return connected;
}

// Waits until a client asks: true; or until the node is deleted: false.
inline Task<Result<bool>> untilRevocationRequested(zk::Session *session, ZPath ourNode, Deadline deadline)
{
    auto connected = co_await recipes::untilConnected(session, deadline);
    while (connected) {
        const zk::Watch watch(session->loop());
        auto reading = session->get(ourNode, watch, recipes::answerBy(*session, deadline));
        const auto read = co_await reading; // 2
        if (read && read->data == recipes::revocationMark)
            co_return true;
        if (read) {
            connected = co_await recipes::untilFired(session, watch, deadline); // 3
        } else if (read.error().code == ErrorCode::NoNode) {
            co_return false;
        } else if (recipes::isConnectionError(read.error())) {
            connected = co_await recipes::untilReconnected(session, deadline);
        } else {
            co_return read.error();
        }
    }
    co_return connected.error();
}

} // namespace lockscope::testing
