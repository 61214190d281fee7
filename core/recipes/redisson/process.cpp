// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/process.h"

#include "core/recipes/token.h"

namespace lockscope::recipes {

RedissonProcess &RedissonProcess::of(redis::Connection &connection, Random &random)
{
    return connection.kept<RedissonProcess>(
        [&] { return std::make_shared<RedissonProcess>(connection, random); });
}

RedissonProcess::RedissonProcess(redis::Connection &connection, Random &random)
    : m_connection(&connection), m_uuid(uuidToken(random))
{
}

QByteArray RedissonProcess::newThread()
{
    return m_uuid + ':' + QByteArray::number(++m_threads);
}

std::shared_ptr<WaitRoom> RedissonProcess::room(const QByteArray &channel, WaitRoom::Wakes wakes)
{
    auto room = m_rooms[channel].lock();
    if (!room) {
        std::erase_if(m_rooms, [](const auto &entry) { return entry.second.expired(); });
        room = std::make_shared<WaitRoom>(*m_connection, channel, wakes);
        m_rooms[channel] = room;
    }
    return room;
}

} // namespace lockscope::recipes
