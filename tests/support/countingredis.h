// SPDX-License-Identifier: Apache-2.0
// Counts the commands that go through a Redis connection, and loses chosen ones.
#pragma once

#include "core/redis/connection.h"
#include "tests/support/decoratedport.h"

#include <map>

namespace lockscope::testing {

class CountingRedis : public DecoratedPort<redis::ForwardingConnection> {
public:
    using DecoratedPort::DecoratedPort;

    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override;

    // By the first word of a command, or a script's name.
    [[nodiscard]] int count(const QByteArray &word) const;
    [[nodiscard]] int requests() const;
    void reset() { m_counts.clear(); }
    // The next so many of that word.
    void plan(const QByteArray &word, RequestFault fault, int times = 1);

protected:
    RequestFault faultFor(const Request &request) override;

private:
    std::map<QByteArray, int> m_counts;
    std::map<QByteArray, std::pair<RequestFault, int>> m_plans;
};

} // namespace lockscope::testing
