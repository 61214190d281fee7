// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/redisson/waitroom.h"

#include <climits>

namespace lockscope::recipes {

WaitRoom::WaitRoom(redis::Connection &connection, const QByteArray &channel, Wakes wakes) : m_connection(&connection)
{
    // While the connection was broken messages may have been lost: everybody tries.
    m_states = connection.onState([this](redis::ConnectionState state) {
        if (state == redis::ConnectionState::Connected)
            wake(INT_MAX);
    });
    m_messages = connection.subscribe(channel,
                                      [this, wakes](const redis::Message &message) { wake(wakes(message.payload)); });
}

void WaitRoom::wake(int most)
{
    for (auto *seat : m_seats) {
        if (most > 0 && seat->isWaiting()) {
            seat->m_isTrying = true;
            seat->m_waiting->complete(true);
            --most;
        }
    }
    // The try that is out may have come too early for this release.
    for (auto *seat : m_seats) {
        if (most > 0 && !seat->isWaiting() && !seat->m_isTold) {
            seat->m_isTold = true;
            --most;
        }
    }
}

WaitRoom::Seat::Seat(std::shared_ptr<WaitRoom> room) : m_room(std::move(room))
{
    m_room->m_seats.push_back(this);
}

WaitRoom::Seat::~Seat()
{
    std::erase(m_room->m_seats, this);
    if (m_isTold || m_isTrying)
        m_room->wake(1);
}

Completion<bool> WaitRoom::Seat::wait(Instant until)
{
    m_waiting.emplace(m_room->m_connection->loop());
    if (std::exchange(m_isTold, false)) {
        m_isTrying = true;
        m_waiting->complete(true);
    } else {
        m_waiting->completeAt(Deadline::at(until), false);
    }
    return *m_waiting;
}

} // namespace lockscope::recipes
