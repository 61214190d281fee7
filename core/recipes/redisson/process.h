// SPDX-License-Identifier: Apache-2.0
// What Redisson calls a client: a UUID of its own, the numbers of its threads, and the rooms in which
// they wait. Here that is a connection, and each Lock is a thread. Loop thread only.
#pragma once

#include "core/base/random.h"
#include "core/recipes/redisson/releasesubscription.h"

#include <map>

namespace lockscope::recipes {

class RedissonProcess {
public:
    // The connection's own, made with its first lock.
    static RedissonProcess &of(redis::Connection &connection, Random &random);

    RedissonProcess(redis::Connection &connection, Random &random);

    // "<uuid>:<number>", as a holder stands in the lock.
    [[nodiscard]] QByteArray newThread();
    [[nodiscard]] std::shared_ptr<ReleaseSubscription> subscription(const QByteArray &channel,
                                                                    ReleaseSubscription::Wakes wakes);

private:
    redis::Connection *m_connection;
    QByteArray m_uuid;
    qint64 m_threads = 0;
    std::map<QByteArray, std::weak_ptr<ReleaseSubscription>> m_subscriptions;
};

} // namespace lockscope::recipes
