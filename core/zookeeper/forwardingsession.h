// SPDX-License-Identifier: Apache-2.0
// A session that hands everything on to another one: the base of those that stand before a session and change one
// thing of it. Whoever derives overrides what it changes.
#pragma once

#include "core/zookeeper/session.h"

namespace lockscope::zk {

class ForwardingSession : public Session {
public:
    explicit ForwardingSession(Session &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] SessionState state() const override { return m_inner.state(); }
    [[nodiscard]] SessionId id() const override { return m_inner.id(); }
    [[nodiscard]] std::chrono::milliseconds timeout() const override { return m_inner.timeout(); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> connectedAt() const override
    {
        return m_inner.connectedAt();
    }
    Subscription onState(std::function<void(SessionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }

    [[nodiscard]] qsizetype watchedBytes() const override { return m_inner.watchedBytes(); }
    [[nodiscard]] qsizetype watchBudgetBytes() const override { return m_inner.watchBudgetBytes(); }
    [[nodiscard]] int watchCount() const override { return m_inner.watchCount(); }

protected:
    [[nodiscard]] Session &inner() const { return m_inner; }

private:
    Session &m_inner;
};

} // namespace lockscope::zk
