// SPDX-License-Identifier: Apache-2.0
// The holder's notice on an etcd. Beside the recipe, and not counted as part of it.
#pragma once

#include "core/etcd/client.h"
#include "core/recipes/lock.h"

namespace lockscope::recipes {

// Watches the key of this grant below `lock` until it is removed or the holding releases. The client outlives it.
// Everything that happens to the key after it was made is in the watch's events, however late it begins.
[[nodiscard]] inline Task<void> watchOwnKey(etcd::Client *client, QByteArray lock, Holding holding, Grant grant)
{
    auto &loop = client->loop();
    const auto key = lock + '/' + grant.id.left(grant.id.lastIndexOf('@')); // LEASE@REVISION
    while (!holding.isReleasing) {
        const Completion<bool> over(loop);
        const etcd::WatchRequest request{key, {}, grant.fencingToken.value_or(0) + 1};
        const auto watching = client->watch(request, [over](const etcd::WatchNews &news) {
            if (news.over || std::ranges::any_of(news.events, &etcd::WatchEvent::isRemoved))
                over.complete(!news.over);
        });
        const bool isRemoved = co_await over;
        auto isTaken = isRemoved;
        if (!isRemoved) {
            const auto mine = co_await holding.lock.isStillMine(Deadline::after(loop, 5s));
            isTaken = mine && !*mine;
        }
        if (isTaken && !holding.isReleasing) {
            holding.takenAway(grant);
            co_return;
        }
        co_await sleepFor(loop, 200ms);
    }
}

} // namespace lockscope::recipes
