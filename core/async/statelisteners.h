// SPDX-License-Identifier: Apache-2.0
// Whoever wants to hear of a connection's state. They are told through its queue, so that a listener may destroy it.
#pragma once

#include "core/async/loop.h"

#include <functional>
#include <memory>
#include <vector>

namespace lockscope {

// What a port gives to whoever listens: unsubscribes when destroyed.
class [[nodiscard]] Subscription {
public:
    Subscription() = default;
    explicit Subscription(std::shared_ptr<void> keepAlive) : m_keepAlive(std::move(keepAlive)) {}

private:
    std::shared_ptr<void> m_keepAlive;
};

template <class State>
class StateListeners {
public:
    using Listener = std::function<void(State)>;

    [[nodiscard]] Subscription add(Listener listener)
    {
        auto kept = std::make_shared<Listener>(std::move(listener));
        m_listeners.push_back(kept);
        return Subscription(std::move(kept));
    }
    void tell(Loop &loop, State state)
    {
        std::erase_if(m_listeners, [](const auto &listener) { return listener.expired(); });
        for (const auto &listener : m_listeners) {
            loop.post([listener, state] {
                if (const auto alive = listener.lock())
                    (*alive)(state);
            });
        }
    }

private:
    std::vector<std::weak_ptr<Listener>> m_listeners;
};

} // namespace lockscope
