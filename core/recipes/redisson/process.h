// SPDX-License-Identifier: Apache-2.0
// What Redisson calls a client: a UUID of its own, the numbers of its threads, and the rooms in which
// they wait. Here that is a connection, and each Lock is a thread. Loop thread only.
#pragma once

#include "core/base/random.h"
#include "core/redis/connection.h"

#include <map>
#include <optional>

namespace lockscope::recipes {

// Where those wait who hear of a release by a message: one per process and channel, with one subscription that all of
// its waiters share. A message lets as many of them try as it says, the one that waits longest first; a release costs
// one try per process, not one per waiter. Loop thread only; the connection outlives it.
class ReleaseSubscription {
public:
    // How many waiters a message with this payload wakes.
    using Wakes = int (*)(const QByteArray &payload);

    ReleaseSubscription(redis::Connection &connection, const QByteArray &channel, Wakes wakes);

    // Completes when no message can be missed any more.
    [[nodiscard]] Reply<qint64> hearing(Deadline deadline) const { return m_connection->subscriberId(deadline); }

    // One waiter. Subscribed before the try that may fail, so that no message falls in between.
    class Waiter {
    public:
        explicit Waiter(std::shared_ptr<ReleaseSubscription> subscription);
        Q_DISABLE_COPY(Waiter)
        // What it was told and made no use of goes to another one.
        ~Waiter();

        [[nodiscard]] ReleaseSubscription &subscription() const { return *m_subscription; }
        // True when it may try; false when that moment came first.
        [[nodiscard]] Completion<bool> wait(Instant until);
        // It has tried, and has its answer.
        void tried() { m_isTrying = false; }

    private:
        friend class ReleaseSubscription;
        [[nodiscard]] bool isWaiting() const { return m_waiting && !m_waiting->isComplete(); }

        std::shared_ptr<ReleaseSubscription> m_subscription;
        std::optional<Completion<bool>> m_waiting;
        bool m_isTold = false;   // while it did not wait
        bool m_isTrying = false; // told, and not tried yet
    };

private:
    void wake(int most);

    redis::Connection *m_connection;
    std::vector<Waiter *> m_waiters; // who came first is first
    Subscription m_states;
    Subscription m_messages;
};

class RedissonProcess {
public:
    // The connection's own, made with its first lock.
    static RedissonProcess &of(redis::Connection &connection, Random &random);

    RedissonProcess(redis::Connection &connection, Random &random);

    // "<uuid>:<number>", as a holder stands in the lock.
    [[nodiscard]] QByteArray newThread() { return m_uuid + ':' + QByteArray::number(++m_threads); }
    [[nodiscard]] std::shared_ptr<ReleaseSubscription> subscription(const QByteArray &channel,
                                                                    ReleaseSubscription::Wakes wakes);

private:
    redis::Connection *m_connection;
    QByteArray m_uuid;
    qint64 m_threads = 0;
    std::map<QByteArray, std::weak_ptr<ReleaseSubscription>> m_subscriptions;
};

} // namespace lockscope::recipes
