// SPDX-License-Identifier: Apache-2.0
// A Redis connection that tells the trace what is sent and heard over it, as one contender's: that of the
// process which has it, since a process shares its subscriptions. Outlived by the inner one and the trace.
#pragma once

#include "core/contention/trace.h"
#include "core/redis/connection.h"

namespace lockscope::contention {

class TracedConnection : public redis::ForwardingConnection {
public:
    TracedConnection(redis::Connection &inner, Trace &trace, int contender)
        : ForwardingConnection(inner), m_trace(&trace), m_contender(contender)
    {
    }

    Reply<redis::Value> command(redis::Command command, Deadline deadline) override;
    Reply<std::vector<redis::Value>> pipeline(std::vector<redis::Command> commands, Deadline deadline) override;
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                               Deadline deadline) override;
    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override;

private:
    template <class T>
    Reply<T> heard(const QByteArray &verb, Reply<T> reply);
    [[nodiscard]] std::function<void(const redis::Message &)> observed(
        std::function<void(const redis::Message &)> listener);
    // Tells of the SUBSCRIBE, and of the UNSUBSCRIBE when it is let go.
    [[nodiscard]] Subscription kept(const QByteArray &channel, Subscription inner);

    Trace *m_trace;
    const int m_contender;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
};

} // namespace lockscope::contention
