// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/process.h"

#include "core/recipes/token.h"

namespace lockscope::recipes {

RedissonProcess &RedissonProcess::of(redis::Connection &connection, Random &random)
{
    return connection.kept<RedissonProcess>([&] { return std::make_shared<RedissonProcess>(connection, random); });
}

RedissonProcess::RedissonProcess(redis::Connection &connection, Random &random)
    : m_connection(&connection), m_uuid(uuidToken(random))
{
}

QByteArray RedissonProcess::newThread()
{
    return m_uuid + ':' + QByteArray::number(++m_threads);
}

std::shared_ptr<ReleaseSubscription> RedissonProcess::subscription(const QByteArray &channel,
                                                                   ReleaseSubscription::Wakes wakes)
{
    auto subscription = m_subscriptions[channel].lock();
    if (!subscription) {
        std::erase_if(m_subscriptions, [](const auto &entry) { return entry.second.expired(); });
        subscription = std::make_shared<ReleaseSubscription>(*m_connection, channel, wakes);
        m_subscriptions[channel] = subscription;
    }
    return subscription;
}

} // namespace lockscope::recipes
