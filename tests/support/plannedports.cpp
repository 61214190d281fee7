// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plannedports.h"

namespace lockscope::testing {

using redis::Message;
using redis::Value;

Reply<mariadb::Rows> PlannedSql::execute(mariadb::Statement statement, Deadline deadline)
{
    return m_traffic.pass<mariadb::Rows>([=, this] { return inner().execute(statement, deadline); });
}

Reply<Value> PlannedRedis::command(redis::Command command, Deadline deadline)
{
    return m_traffic.pass<Value>([=, this] { return inner().command(command, deadline); });
}

Reply<std::vector<Value>> PlannedRedis::pipeline(std::vector<redis::Command> commands, Deadline deadline)
{
    return m_traffic.pass<std::vector<Value>>([=, this] { return inner().pipeline(commands, deadline); });
}

Reply<Value> PlannedRedis::script(redis::Script script, QByteArrayList keys, QByteArrayList args, Deadline deadline)
{
    return m_traffic.pass<Value>([=, this] { return inner().script(script, keys, args, deadline); });
}

std::function<void(const Message &)> PlannedRedis::heard(std::function<void(const Message &)> listener) const
{
    return [messages = m_messages, isDeaf = m_isDeaf, listener](const Message &message) {
        if (*isDeaf)
            return;
        ++*messages;
        listener(message);
    };
}

Subscription PlannedRedis::subscribe(QByteArray channel, std::function<void(const Message &)> listener)
{
    return counted(inner().subscribe(std::move(channel), heard(std::move(listener))));
}

Subscription PlannedRedis::subscribePattern(QByteArray pattern, std::function<void(const Message &)> listener)
{
    return counted(inner().subscribePattern(std::move(pattern), heard(std::move(listener))));
}

Subscription PlannedRedis::counted(Subscription inner)
{
    auto both = std::make_shared<Subscription>(std::move(inner));
    return Subscription(std::shared_ptr<void>(both.get(), [both, count = m_unsubscriptions](void *) mutable {
        ++*count;
        both.reset();
    }));
}

} // namespace lockscope::testing
