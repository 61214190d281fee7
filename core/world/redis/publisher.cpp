// SPDX-License-Identifier: Apache-2.0
#include "core/world/redis/publisher.h"

#include "core/world/redis/glob.h"
#include "core/world/redis/reply.h"

namespace lockscope::world {

using redis::Value;

bool Publisher::add(RedisSession &session, Kind kind, const QByteArray &name)
{
    auto &own = kind == Kind::Channel ? session.channels : session.patterns;
    if (std::find(own.begin(), own.end(), name) != own.end())
        return false;
    own.push_back(name);
    (kind == Kind::Channel ? m_channels : m_patterns)[name].push_back(&session);
    return true;
}

bool Publisher::remove(RedisSession &session, Kind kind, const QByteArray &name)
{
    auto &own = kind == Kind::Channel ? session.channels : session.patterns;
    auto &topics = kind == Kind::Channel ? m_channels : m_patterns;
    if (std::erase(own, name) == 0)
        return false;
    const auto at = topics.find(name);
    std::erase(at->second, &session);
    if (at->second.empty())
        topics.erase(at);
    return true;
}

void Publisher::removeAll(RedisSession &session)
{
    const auto channels = session.channels, patterns = session.patterns;
    for (const auto &name : channels)
        remove(session, Kind::Channel, name);
    for (const auto &name : patterns)
        remove(session, Kind::Pattern, name);
}

std::vector<Publisher::Copy> Publisher::copiesOf(const QByteArray &channel, const QByteArray &payload) const
{
    using namespace replies;
    std::vector<Copy> copies;
    if (const auto at = m_channels.find(channel); at != m_channels.end()) {
        const auto message = array({bulk("message"), bulk(channel), bulk(payload)});
        for (const auto *session : at->second)
            copies.push_back({session->id, message});
    }
    for (const auto &[pattern, sessions] : m_patterns) {
        if (!matchesGlob(pattern, channel))
            continue;
        const auto message = array({bulk("pmessage"), bulk(pattern), bulk(channel), bulk(payload)});
        for (const auto *session : sessions)
            copies.push_back({session->id, message});
    }
    return copies;
}

} // namespace lockscope::world
