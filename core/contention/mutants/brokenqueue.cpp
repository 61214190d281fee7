// SPDX-License-Identifier: Apache-2.0
#include "core/contention/mutants/brokenqueue.h"

#include "core/recipes/zookeeper/queuemutex.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::contention {

using namespace recipes;

Task<Result<QueueEntry>> MistakenQueue::enter(Deadline deadline)
{
    const NodeClaim claim = mutexClaim(path(), random());
    auto joined = co_await joinQueue(cleanup(), claim, Listing::Plain, deadline);
    if (!joined)
        co_return joined.error();
    QueueEntry entry = std::move(joined->entry);
    auto queue = mutexQueue(joined->takeQueue());
    for (;;) {
        const auto turn = turnInQueue(queue, entry.node());
        if (turn.kind != Turn::Kind::WaitFor)
            co_return std::move(entry);
        const bool isBehindTheHead = turnInQueue(queue, *turn.predecessor).isMine();
        const ZPath predecessor = path().child(*turn.predecessor);
        const auto gone = co_await untilGone(session(), predecessor, deadline);
        const bool isTimeOver = !gone && gone.error().code == ErrorCode::TimedOut;
        if ((gone || isTimeOver) && takesItForTheLock(isTimeOver, isBehindTheHead))
            co_return std::move(entry); // the mistake
        if (!gone)
            co_return gone.error();
        const auto listed = co_await listQueue(session(), path(), Listing::Plain, deadline);
        if (!listed)
            co_return listed.error();
        queue = mutexQueue(*listed);
    }
}

} // namespace lockscope::contention
