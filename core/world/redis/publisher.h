// SPDX-License-Identifier: Apache-2.0
// Who listens to which channel of a simulated Redis.
//
// Listeners hear in the order in which they subscribed, those of patterns last. World's thread only.
#pragma once

#include "core/world/redis/session.h"

namespace lockscope::world {

class Publisher {
public:
    using Topics = std::map<QByteArray, std::vector<RedisSession *>>;
    enum class Kind { Channel, Pattern };

    // False when it did so already (or did not, in remove()).
    bool add(RedisSession &session, Kind kind, const QByteArray &name);
    bool remove(RedisSession &session, Kind kind, const QByteArray &name);
    void removeAll(RedisSession &session);

    struct Copy {
        qint64 session = 0;
        redis::Value message;
    };
    [[nodiscard]] std::vector<Copy> copiesOf(const QByteArray &channel, const QByteArray &payload) const;
    [[nodiscard]] const Topics &topics(Kind kind) const { return kind == Kind::Channel ? m_channels : m_patterns; }

private:
    Topics m_channels, m_patterns;
};

} // namespace lockscope::world
