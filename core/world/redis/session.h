// SPDX-License-Identifier: Apache-2.0
// What a simulated Redis knows of one of its clients.
#pragma once

#include "core/redis/resp.h"

#include <functional>

namespace lockscope::world {

struct RedisSession {
    RedisSession(qint64 number, int itsProcess, std::function<void(const QByteArray &)> howToReachIt,
                 qint64 limitBytes)
        : id(number), process(itsProcess), deliver(std::move(howToReachIt)), reader(limitBytes)
    {
    }

    const qint64 id;
    const int process;
    const std::function<void(const QByteArray &)> deliver;
    redis::RespReader reader; // of what it sends
    QByteArray name;
    std::vector<QByteArray> channels, patterns; // in the order it subscribed

    [[nodiscard]] std::size_t subscriptions() const { return channels.size() + patterns.size(); }
};

} // namespace lockscope::world
