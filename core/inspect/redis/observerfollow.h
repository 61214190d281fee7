// SPDX-License-Identifier: Apache-2.0
// How a Redis observer learns of changes: client tracking where the server lets us, else keyspace
// events where they are switched on, else it has to poll.
//
// Tracking is by broadcast: the server keeps no table for us and tells of every key that changes, in
// whatever database. Where that is too much to hear, it is narrowed to prefixes: of the names of known locks, and
// of those that clients begin their locks' names with, as far as these are quiet; else to the locks themselves. Not
// from the start: the server can be told which names to tell of, not which not, and a lock may be called anything.
// Loop thread only.
#pragma once

#include "core/inspect/redis/observerreader.h"

namespace lockscope::inspect {

class Follower {
public:
    enum class Mode { NotYet, Tracking, NarrowTracking, KeyspaceEvents, Polling };
    struct Callbacks {
        std::function<void(const RedisKey &)> changed;
        std::function<void()> everythingMayHaveChanged; // FLUSHALL, FLUSHDB
        std::function<void(const RedisKey &)> released; // somebody unlocked this lock of Redisson's
    };

    // All must outlive the follower and its tasks.
    Follower(redis::Connection &connection, KeyReader &reader, Refusals &refusals, Callbacks callbacks);

    // Finds the best way this server allows and starts it; also after a reconnect. Whatever changed
    // before it completes may have been missed.
    Task<Result<Mode>> setUp();
    // Listens to these keys and to quiet names like theirs only (tracking); polls if they are too many to name.
    // Complete as setUp(). Sends nothing where that would change nothing.
    Task<Result<Mode>> narrowTo(std::vector<RedisKey> keys);
    // From now on also what Redisson's unlock publishes, where that may be listened to: for who lets go and takes it
    // again at once no key changes hands. Until setUp() or narrowTo().
    Task<void> hearReleases();
    [[nodiscard]] bool shouldHearReleases(const QByteArray &recipe) const;
    // Whether it is narrowed, but could be more.
    [[nodiscard]] bool hearsFamilies() const { return m_mode == Mode::NarrowTracking && m_hearsFamilies; }

    [[nodiscard]] Mode mode() const { return m_mode; }
    [[nodiscard]] QString how(std::chrono::milliseconds pollEvery) const; // in words
    // Whether a key that appears is heard of at once.
    [[nodiscard]] bool tellsOfNewKeys() const { return m_mode == Mode::Tracking || m_mode == Mode::KeyspaceEvents; }
    // Whether what happens to a lock that is known is.
    [[nodiscard]] bool tellsOfKnownKeys() const { return tellsOfNewKeys() || m_mode == Mode::NarrowTracking; }
    [[nodiscard]] const std::vector<QByteArray> &prefixes() const { return m_prefixes; } // empty: not narrowed
    // The client id of our own subscriber; empty when not known.
    [[nodiscard]] QByteArray subscriberId() const { return m_subscriberId; }
    // Changes heard since the last call, which was a second ago.
    [[nodiscard]] qint64 takeHeard();

private:
    Task<Result<bool>> tryTracking();
    Task<Result<bool>> tryKeyspaceEvents();
    void heard(const redis::Message &message, const RedisKey &key);
    void heardRelease(const redis::Message &message);
    [[nodiscard]] bool isQuiet(const QByteArray &family);
    [[nodiscard]] std::vector<QByteArray> prefixesFor(const std::vector<RedisKey> &keys);

    redis::Connection &m_connection;
    KeyReader &m_reader;
    Refusals &m_refusals;
    Callbacks m_callbacks;
    Mode m_mode = Mode::NotYet;
    qint64 m_heard = 0;
    std::map<QByteArray, qint64> m_heardOf, m_lastHeardOf; // by family, this second and the last
    std::set<QByteArray> m_loudFamilies;                   // they were once
    std::vector<QByteArray> m_prefixes;
    bool m_hearsFamilies = false;
    QByteArray m_subscriberId;
    Subscription m_subscription;
    std::vector<Subscription> m_releases;
    bool m_askedForReleases = false;
};

// The fewest prefixes that cover these keys and do not overlap (Redis refuses those).
[[nodiscard]] std::vector<QByteArray> prefixesOf(std::vector<RedisKey> keys);
// What a key's name has in common with others: all up to its last separator, that included. Empty: nothing.
[[nodiscard]] QByteArray familyOf(const QByteArray &key);

} // namespace lockscope::inspect
