// SPDX-License-Identifier: Apache-2.0
// Counts the commands that go through a Redis connection, and loses chosen ones.
#pragma once

#include "core/redis/connection.h"

#include <functional>
#include <map>
#include <set>

namespace lockscope::testing {

class CountingRedis : public redis::ForwardingConnection {
public:
    enum class Fault { LoseRequest, LoseReply, HoldReply };

    explicit CountingRedis(redis::Connection &inner) : ForwardingConnection(inner), m_held(std::make_shared<Held>())
    {
    }

    Reply<redis::Value> command(redis::Command command, Deadline deadline) override;
    Reply<std::vector<redis::Value>> pipeline(std::vector<redis::Command> commands, Deadline deadline) override;
    Reply<redis::Value> script(redis::Script script, QByteArrayList keys, QByteArrayList args,
                               Deadline deadline) override;
    Subscription subscribe(QByteArray channel, std::function<void(const redis::Message &)> listener) override;
    Subscription subscribePattern(QByteArray pattern, std::function<void(const redis::Message &)> listener) override;

    // By the first word of a command, or a script's name.
    [[nodiscard]] int count(const QByteArray &word) const;
    [[nodiscard]] int requests() const;
    void reset() { m_counts.clear(); }
    // The next so many of that word.
    void plan(const QByteArray &word, Fault fault, int times = 1);
    void letThrough();

private:
    using Held = std::vector<std::function<void()>>;
    Reply<redis::Value> pass(const QByteArray &word, const std::function<Reply<redis::Value>()> &send);

    std::map<QByteArray, int> m_counts;
    std::map<QByteArray, std::pair<Fault, int>> m_plans;
    std::shared_ptr<Held> m_held;
};

} // namespace lockscope::testing
