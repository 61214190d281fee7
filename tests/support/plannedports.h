// SPDX-License-Identifier: Apache-2.0
// Ports that follow a FaultPlan.
#pragma once

#include "core/etcd/client.h"
#include "core/mariadb/session.h"
#include "core/redis/connection.h"
#include "tests/support/sessiondecorator.h"

namespace lockscope::testing {

using PlannedSession = PlannedPort<SessionDecorator>;
using PlannedSql = PlannedPort<DecoratedPort<mariadb::ForwardingSession>>;
using PlannedEtcd = PlannedPort<DecoratedPort<etcd::ForwardingClient>>;

class PlannedRedis : public PlannedPort<DecoratedPort<redis::ForwardingConnection>> {
public:
    using PlannedPort::PlannedPort;

    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override
    {
        return counted(inner().subscribe(std::move(channel), heard(std::move(listener))));
    }
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override
    {
        return counted(inner().subscribePattern(std::move(pattern), heard(std::move(listener))));
    }

    // No message gets through any more.
    void deafen() { *m_isDeaf = true; }
    [[nodiscard]] int messages() const { return *m_messages; }
    [[nodiscard]] int unsubscriptions() const { return *m_unsubscriptions; }
    void resetMessages()
    {
        *m_messages = 0;
        *m_unsubscriptions = 0;
    }

protected:
    // Nothing ever happens to the question for the subscriber's id.
    RequestFault faultFor(const Request &request) override
    {
        return std::holds_alternative<Asked<redis::SubscriberIdRequest>>(request) ? RequestFault::Pass
                                                                                  : PlannedPort::faultFor(request);
    }

private:
    [[nodiscard]] std::function<void(const redis::Message &)> heard(
        std::function<void(const redis::Message &)> listener) const
    {
        return [messages = m_messages, isDeaf = m_isDeaf, listener](const redis::Message &message) {
            if (*isDeaf)
                return;
            ++*messages;
            listener(message);
        };
    }
    // Counts when it is let go of.
    [[nodiscard]] Subscription counted(Subscription inner)
    {
        auto both = std::make_shared<Subscription>(std::move(inner));
        return Subscription(std::shared_ptr<void>(both.get(), [both, count = m_unsubscriptions](void *) mutable {
            ++*count;
            both.reset();
        }));
    }

    std::shared_ptr<int> m_messages = std::make_shared<int>(0);
    std::shared_ptr<bool> m_isDeaf = std::make_shared<bool>(false);
    std::shared_ptr<int> m_unsubscriptions = std::make_shared<int>(0);
};

} // namespace lockscope::testing
