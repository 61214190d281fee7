// SPDX-License-Identifier: Apache-2.0
// A client that hands everything on to another one: the base of those that stand before a client.
#pragma once

#include "core/etcd/client.h"

namespace lockscope::etcd {

class ForwardingClient : public Client {
public:
    explicit ForwardingClient(Client &inner) : m_inner(inner) {}

    [[nodiscard]] Loop &loop() const override { return m_inner.loop(); }
    [[nodiscard]] ClientState state() const override { return m_inner.state(); }
    [[nodiscard]] QString lastError() const override { return m_inner.lastError(); }
    [[nodiscard]] bool isExplained() const override { return m_inner.isExplained(); }
    [[nodiscard]] QByteArray serverVersion() const override { return m_inner.serverVersion(); }
    Subscription onState(std::function<void(ClientState)> listener) override
    {
        return m_inner.onState(std::move(listener));
    }
    Reply<AccessRights> access(Deadline deadline) override { return m_inner.access(deadline); }

protected:
    [[nodiscard]] Client &inner() const { return m_inner; }

private:
    Client &m_inner;
};

} // namespace lockscope::etcd
