// SPDX-License-Identifier: Apache-2.0
// How a Redis observer learns of changes: client tracking where the server lets us, else keyspace
// events where they are switched on, else it has to poll.
//
// Tracking is by broadcast: the server keeps no table for us and tells of every key that changes, in
// whatever database. Where that is too much to hear, it is narrowed to the known locks. Loop thread only.
#pragma once

#include "core/inspect/redis/observerreader.h"

namespace lockscope::inspect {

class Follower {
public:
    enum class Mode { NotYet, Tracking, NarrowTracking, KeyspaceEvents, Polling };
    struct Callbacks {
        std::function<void(const RedisKey &)> changed;
        std::function<void()> everythingMayHaveChanged; // FLUSHALL, FLUSHDB
    };

    // All must outlive the follower and its tasks.
    Follower(redis::Connection &connection, KeyReader &reader, Refusals &refusals, Callbacks callbacks);

    // Finds the best way this server allows and starts it; also after a reconnect. Whatever changed
    // before it completes may have been missed.
    Task<Result<Mode>> setUp();
    // Listens to these keys only (tracking); polls if they are too many to name. Complete as setUp().
    Task<Result<Mode>> narrowTo(std::vector<RedisKey> keys);

    [[nodiscard]] Mode mode() const { return m_mode; }
    // Whether a key that appears is heard of at once.
    [[nodiscard]] bool tellsOfNewKeys() const { return m_mode == Mode::Tracking || m_mode == Mode::KeyspaceEvents; }
    // Whether what happens to a lock that is known is.
    [[nodiscard]] bool tellsOfKnownKeys() const { return tellsOfNewKeys() || m_mode == Mode::NarrowTracking; }
    // The client id of our own subscriber; empty when not known.
    [[nodiscard]] QByteArray subscriberId() const { return m_subscriberId; }
    // Changes heard since the last call.
    [[nodiscard]] qint64 takeHeard() { return std::exchange(m_heard, 0); }

private:
    Task<Result<bool>> tryTracking();
    Task<Result<bool>> tryKeyspaceEvents();
    void heard(const redis::Message &message, const RedisKey &key);

    redis::Connection &m_connection;
    KeyReader &m_reader;
    Refusals &m_refusals;
    Callbacks m_callbacks;
    Mode m_mode = Mode::NotYet;
    qint64 m_heard = 0;
    QByteArray m_subscriberId;
    Subscription m_subscription;
};

// The fewest prefixes that cover these keys and do not overlap (Redis refuses those).
[[nodiscard]] std::vector<QByteArray> prefixesOf(std::vector<RedisKey> keys);

} // namespace lockscope::inspect
