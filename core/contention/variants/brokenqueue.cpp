// SPDX-License-Identifier: Apache-2.0
#include "core/contention/variants/brokenqueue.h"

#include "core/recipes/zookeeper/mutexnames.h"
#include "core/recipes/zookeeper/waiting.h"

namespace lockscope::contention {

using namespace recipes;

Task<Result<Place>> ForgetsToLook::enter(Deadline deadline)
{
    const Claim claim = mutexClaim(path(), random());
    auto joined = co_await joinQueue(janitor(), claim, Listing::Plain, deadline);
    if (!joined)
        co_return joined.error();
    Place place = std::move(joined->place);
    const auto turn = turnInQueue(mutexQueue(joined->takeQueue()), place.node());
    if (turn.kind == Turn::Kind::WaitFor) {
        const auto gone = co_await untilGone(session(), path().child(*turn.predecessor), deadline);
        if (!gone)
            co_return gone.error();
    }
    co_return std::move(place); // the mistake: nobody looked who else is before us
}

Task<Result<Place>> BlindShortcut::enter(Deadline deadline)
{
    const Claim claim = mutexClaim(path(), random());
    auto joined = co_await joinQueue(janitor(), claim, Listing::Plain, deadline);
    if (!joined)
        co_return joined.error();
    Place place = std::move(joined->place);
    auto queue = mutexQueue(joined->takeQueue());
    for (;;) {
        const auto turn = turnInQueue(queue, place.node());
        if (turn.kind != Turn::Kind::WaitFor)
            co_return std::move(place);
        const bool isBehindTheHead = turnInQueue(queue, *turn.predecessor).isMine();
        const auto gone = co_await untilGone(session(), path().child(*turn.predecessor), deadline);
        if (!gone)
            co_return gone.error();
        if (isBehindTheHead)
            co_return std::move(place); // the mistake: our own node may be gone
        const auto listed = co_await listQueue(session(), path(), Listing::Plain, deadline);
        if (!listed)
            co_return listed.error();
        queue = mutexQueue(*listed);
    }
}

} // namespace lockscope::contention
