// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redis/keywatch.h"

namespace lockscope::recipes {

KeyWatch::KeyWatch(std::vector<redis::Connection *> nodes, QByteArray key)
    : m_nodes(std::move(nodes)), m_key(std::move(key)), m_loop(m_nodes.front()->loop()), m_news(m_loop)
{
}

void KeyWatch::track(Scope &scope)
{
    for (auto *node : m_nodes)
        scope.launch(listenTo(node));
}

// Once a second in any case: a reconnect ends the tracking silently.
Task<void> KeyWatch::heedKey(Holding holding, Grant grant)
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
Task<void> KeyWatch::listenTo(redis::Connection *node)
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

} // namespace lockscope::recipes
