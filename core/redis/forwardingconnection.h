// SPDX-License-Identifier: Apache-2.0
// A connection that hands everything on to another one: the base of those that stand before a connection and change
// what becomes of its requests.
#pragma once

#include "core/redis/connection.h"

namespace lockscope::redis {

class ForwardingConnection : public Connection {
public:
    explicit ForwardingConnection(Connection &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] ConnectionState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    [[nodiscard]] bool isExplained() const override { return m_inner.isExplained(); }
    [[nodiscard]] QString missing() const override { return m_inner.missing(); }
    [[nodiscard]] bool isServed(const QByteArray &key) const override { return m_inner.isServed(key); }
    Subscription onState(std::function<void(ConnectionState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    Reply<qint64> subscriberId(Deadline deadline) override { return m_inner.subscriberId(deadline); }

protected:
    [[nodiscard]] Connection &inner() const { return m_inner; }

private:
    Connection &m_inner;
};

} // namespace lockscope::redis
