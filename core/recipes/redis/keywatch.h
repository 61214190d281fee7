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
    KeyWatch(std::vector<redis::Connection *> nodes, QByteArray key)
        : m_nodes(std::move(nodes)), m_key(std::move(key)), m_loop(m_nodes.front()->loop()), m_news(m_loop)
    {
    }

    void begin(const Holding &holding, const Grant &grant) { holding.scope.launch(heedKey(holding, grant)); }
    // Has the servers tell of each change of the key as well, which is asked for then; every 250 ms where one does
    // not tell (no permission for client tracking). The tracking stays for as long as the connections.
    void track(Scope &scope)
    {
        for (auto *node : m_nodes)
            scope.launch(listenTo(node));
    }

private:
    // Once a second in any case: a reconnect ends the tracking silently.
    Task<void> heedKey(Holding holding, Grant grant)
    {
        while (!holding.isReleasing) {
            m_news = Completion<bool>(m_loop);
            m_news.completeAt(Deadline::after(m_loop, m_askEvery), false);
            const auto mine = co_await holding.lock.isStillMine(Deadline::after(m_loop, 5s));
            if (mine && !*mine && !holding.isReleasing) {
                holding.takenAway(grant);
                co_return;
            }
            co_await m_news;
        }
    }
    // Has one server tell of changes of the key.
    Task<void> listenTo(redis::Connection *node)
    {
        m_subscriptions.push_back(
            node->subscribe("__redis__:invalidate", [this](const redis::Message &) { m_news.complete(true); }));
        const auto id = co_await node->subscriberId(Deadline::after(m_loop, 2s));
        const redis::Command track{"CLIENT", "TRACKING", "ON", "REDIRECT", QByteArray::number(id ? *id : 0),
                                   "BCAST",  "PREFIX",   m_key};
        const auto tracked = co_await node->command(track, Deadline::after(m_loop, 2s));
        // An overlapping prefix means that the observer tracks this key already.
        if (!tracked && !tracked.error().message.contains("overlap"_L1))
            m_askEvery = 250ms;
        m_news.complete(true); // what changed until now nobody told
    }

    const std::vector<redis::Connection *> m_nodes;
    const QByteArray m_key;
    Loop &m_loop;
    Completion<bool> m_news; // completed when a server says that the key changed
    std::vector<Subscription> m_subscriptions;
    std::chrono::milliseconds m_askEvery{1000};
};

} // namespace lockscope::recipes
