// SPDX-License-Identifier: Apache-2.0
// The holder's notice on a Redis, or on a set of them. Beside the recipe, and not counted as part of it.
#pragma once

#include "core/recipes/lock.h"
#include "core/redis/connection.h"

namespace lockscope::recipes {

// Asks whether the key is still ours (on a set: on a majority of its nodes) once a second. Loop thread only; the
// connections outlive it, and it outlives the holding.
class KeyWatch {
public:
    KeyWatch(std::vector<redis::Connection *> nodes, QByteArray key);

    void begin(const Holding &holding, const Grant &grant) { holding.scope.launch(heedKey(holding, grant)); }
    // Has the servers tell of each change of the key as well, which is asked for then; every 250 ms where one does
    // not tell (no permission for client tracking). The tracking stays for as long as the connections.
    void track(Scope &scope);

private:
    Task<void> heedKey(Holding holding, Grant grant);
    Task<void> listenTo(redis::Connection *node);

    const std::vector<redis::Connection *> m_nodes;
    const QByteArray m_key;
    Loop &m_loop;
    Completion<bool> m_news; // completed when a server says that the key changed
    std::vector<Subscription> m_subscriptions;
    std::chrono::milliseconds m_askEvery{1000};
};

} // namespace lockscope::recipes
