// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/process.h"

#include "core/recipes/token.h"

#include <climits>

namespace lockscope::recipes {

ReleaseSubscription::ReleaseSubscription(redis::Connection &connection, const QByteArray &channel, Wakes wakes)
    : m_connection(&connection)
{
    // While the connection was broken messages may have been lost: everybody tries.
    m_states = connection.onState([this](redis::ConnectionState state) {
        if (state == redis::ConnectionState::Connected)
            wake(INT_MAX);
    });
    m_messages =
        connection.subscribe(channel, [this, wakes](const redis::Message &message) { wake(wakes(message.payload)); });
}

void ReleaseSubscription::wake(int most)
{
    for (auto *waiter : m_waiters) {
        if (most > 0 && waiter->isWaiting()) {
            waiter->m_isTrying = true;
            waiter->m_waiting->complete(true);
            --most;
        }
    }
    // The try that is out may have come too early for this release.
    for (auto *waiter : m_waiters) {
        if (most > 0 && !waiter->isWaiting() && !waiter->m_isTold) {
            waiter->m_isTold = true;
            --most;
        }
    }
}

ReleaseSubscription::Waiter::Waiter(std::shared_ptr<ReleaseSubscription> subscription)
    : m_subscription(std::move(subscription))
{
    m_subscription->m_waiters.push_back(this);
}

ReleaseSubscription::Waiter::~Waiter()
{
    std::erase(m_subscription->m_waiters, this);
    if (m_isTold || m_isTrying)
        m_subscription->wake(1);
}

Completion<bool> ReleaseSubscription::Waiter::wait(Instant until)
{
    m_waiting.emplace(m_subscription->m_connection->loop());
    if (std::exchange(m_isTold, false)) {
        m_isTrying = true;
        m_waiting->complete(true);
    } else {
        m_waiting->completeAt(Deadline::at(until), false);
    }
    return *m_waiting;
}

RedissonProcess &RedissonProcess::of(redis::Connection &connection, Random &random)
{
    return connection.kept<RedissonProcess>([&] { return std::make_shared<RedissonProcess>(connection, random); });
}

RedissonProcess::RedissonProcess(redis::Connection &connection, Random &random)
    : m_connection(&connection), m_uuid(uuidToken(random))
{
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
