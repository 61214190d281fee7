// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/zookeeper/ownnode.h"

#include "core/async/sleep.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::recipes {

namespace {

constexpr auto pauseBeforeReading = std::chrono::milliseconds(200);

} // namespace

Task<void> watchOwnNode(zk::Session *session, Lock *lock, Grant grant)
{
    for (;;) {
        const zk::Watch watch(session->loop());
        auto reading = session->get(grant.node, watch, Deadline::never());
        const auto read = co_await reading;
        // Another may have got the name: the czxid is the name that never comes again.
        const bool isTaken = read ? read->stat.czxid != grant.fencingToken : read.error().code == ErrorCode::NoNode;
        if (isTaken)
            break;
        if (!read) {
            if (isOver(session->state()))
                co_return;
            auto pause = sleepFor(session->loop(), pauseBeforeReading);
            co_await pause;
            continue;
        }
        const auto event = co_await watch.event();
        if (event.kind == zk::EventKind::SessionOver)
            co_return;
        // No need to read again, and no use: a successor's node may stand there by then.
        if (event.kind == zk::EventKind::Deleted)
            break;
    }
    lock->noteTakenAway(grant);
}

} // namespace lockscope::recipes
