// SPDX-License-Identifier: Apache-2.0
// What a port holds back, in its order.
#pragma once

#include <QtGlobal>

#include <functional>
#include <utility>
#include <vector>

namespace lockscope::testing {

enum class Flow { Out, In };

class HeldBack {
public:
    // As a connection does: what comes after something that is held waits behind it. Without it anything
    // else passes by.
    explicit HeldBack(bool keepsOrder) : m_keepsOrder(keepsOrder) {}

    // A request, or the reply to one: done now, or by letThrough().
    void pass(Flow way, bool isToBeHeld, std::function<void()> call)
    {
        bool &isShut = way == Flow::Out ? m_isShutOut : m_isShutIn;
        if (!isToBeHeld && !isShut) {
            call();
            return;
        }
        isShut = m_keepsOrder;
        ++m_size;
        m_calls.push_back(std::move(call));
    }
    // Comes in with the replies, and answers no request.
    void passEvent(std::function<void()> call)
    {
        if (m_isShutIn)
            m_calls.push_back(std::move(call));
        else
            call();
    }
    void letThrough()
    {
        m_isShutOut = m_isShutIn = false;
        m_size = 0;
        ++m_times;
        for (const auto &call : std::exchange(m_calls, {}))
            call();
    }
    // Requests and replies.
    [[nodiscard]] qsizetype size() const { return m_size; }
    // How often it was let through: a reply that comes later than that is not held any more.
    [[nodiscard]] int times() const { return m_times; }

private:
    bool m_keepsOrder;
    bool m_isShutOut = false;
    bool m_isShutIn = false;
    qsizetype m_size = 0;
    int m_times = 0;
    std::vector<std::function<void()>> m_calls;
};

} // namespace lockscope::testing
