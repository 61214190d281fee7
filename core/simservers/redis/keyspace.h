// SPDX-License-Identifier: Apache-2.0
// The keys of one simulated Redis: what they hold, when they expire, and what they held a moment ago, for
// the replica that is behind.
//
// Everything is in the order of its bytes, so that no order of a hash table can leak into a run. World's thread only.
#pragma once

#include "core/async/loop.h"

#include <QByteArray>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

namespace lockscope::sim {

using RedisText = QByteArray;
using RedisHash = std::map<QByteArray, QByteArray>;
using RedisList = std::deque<QByteArray>;
struct RedisSortedSet {
    std::map<QByteArray, double> scores;
    std::set<std::pair<double, QByteArray>> order;

    // True when the member is new.
    bool put(const QByteArray &member, double score);
    bool take(const QByteArray &member);
};
using RedisContent = std::variant<RedisText, RedisList, RedisSortedSet, RedisHash>;

class Keyspace {
public:
    using Millis = std::chrono::milliseconds; // since 1970, by the server's clock
    struct Entry {
        RedisContent content;
        std::optional<Millis> expiresAt;
    };

    // Null when there is no such key.
    [[nodiscard]] const Entry *look(const QByteArray &key) const;
    // For changing it in place; null when there is no such key.
    [[nodiscard]] RedisContent *change(const QByteArray &key);
    // Without a time to live.
    RedisContent &put(const QByteArray &key, RedisContent content);
    bool remove(const QByteArray &key);
    // The key must be there.
    void expireAt(const QByteArray &key, std::optional<Millis> when);
    // Takes out what has expired.
    void purge(Millis now);
    void clear();

    [[nodiscard]] std::vector<QByteArray> keys() const;
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }

    // How far back rewind() can go; zero (nothing is kept) to begin with.
    void setMemory(Duration memory) { m_memory = memory; }
    // The moment of the changes that follow.
    void setMoment(Instant now);
    // As it was at that moment; no further back than the memory reaches.
    void rewind(Instant moment);

private:
    struct Change {
        Instant at;
        QByteArray key;
        std::optional<Entry> before;
    };
    void remember(const QByteArray &key);
    void forgetExpiry(const QByteArray &key, const Entry &entry);

    std::map<QByteArray, Entry> m_entries;
    std::set<std::pair<Millis, QByteArray>> m_expiring;
    std::deque<Change> m_changes;
    Duration m_memory{};
    Instant m_now{};
};

// The patterns of KEYS, SCAN and PSUBSCRIBE: *, ?, [a-z], [^a] and a backslash before what is meant as it is.
[[nodiscard]] bool matchesGlob(QByteArrayView pattern, QByteArrayView text);

} // namespace lockscope::sim
