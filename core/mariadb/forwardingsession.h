// SPDX-License-Identifier: Apache-2.0
// A session that hands everything on to another one: the base of those that stand before a session and change what
// becomes of its statements.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::mariadb {

class ForwardingSession : public Session {
public:
    explicit ForwardingSession(Session &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] SessionState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    [[nodiscard]] bool isExplained() const override { return m_inner.isExplained(); }
    [[nodiscard]] ConnectionId connectionId() const override { return m_inner.connectionId(); }
    [[nodiscard]] QByteArray serverVersion() const override { return m_inner.serverVersion(); }
    [[nodiscard]] Features features() const override { return m_inner.features(); }
    Subscription onState(std::function<void(SessionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    void interrupt(ConnectionId connection) override { m_inner.interrupt(connection); }

protected:
    [[nodiscard]] Session &inner() const { return m_inner; }

private:
    Session &m_inner;
};

} // namespace lockscope::mariadb
