// SPDX-License-Identifier: Apache-2.0
// What a port gives to whoever listens: unsubscribes when destroyed.
#pragma once

#include <memory>

namespace lockscope {

class [[nodiscard]] Subscription {
public:
    Subscription() = default;
    explicit Subscription(std::shared_ptr<void> keepAlive) : m_keepAlive(std::move(keepAlive)) {}

private:
    std::shared_ptr<void> m_keepAlive;
};

} // namespace lockscope
