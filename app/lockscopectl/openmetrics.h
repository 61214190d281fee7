// SPDX-License-Identifier: Apache-2.0
// Metrics in the text format of OpenMetrics. Their names, in this order, and their help: resources/metrics.json.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>
#include <set>

namespace lockscope::ctl {

class Exposition {
public:
    using Labels = std::vector<std::pair<const char *, QString>>;

    // A sample of a metric in the table. Label values may hold anything.
    void add(const QByteArray &metric, const Labels &labels, double value);
    [[nodiscard]] QByteArray text() const;

private:
    std::map<QByteArray, QByteArray> m_samples; // lines, by metric
};

// The locks of one connection whose names have one pattern. Empty values are unknown for all of them.
struct LockGroup {
    qint64 locks = 0;
    qint64 held = 0;
    qint64 waiters = 0;
    bool areWaitersReported = false; // of some of them
    std::optional<std::chrono::milliseconds> longestHold{};
    std::optional<std::chrono::milliseconds> longestWait{};
    void add(const LockGroup &other);
};
[[nodiscard]] LockGroup groupOf(const inspect::LockSnapshot &lock, inspect::ServerTime now);

// Joins locks by the pattern of their names, in a bounded number of groups: a server can have any number of names.
class LockGroups {
public:
    using Key = std::pair<QString, QString>; // connection and pattern, escaped
    struct Joined {
        std::map<Key, LockGroup> groups;
        qint64 collapsed = 0; // locks whose name is longer than its pattern tells
        qint64 leftOut = 0;   // locks in the group "other" of their connection
    };
    static constexpr std::size_t most = 300;

    // A pattern that has a group keeps it while locks have that pattern: no series comes and goes with the load.
    [[nodiscard]] Joined join(const std::vector<std::pair<inspect::LockName, LockGroup>> &locks, std::size_t atMost);

private:
    std::set<Key> m_kept;
};

} // namespace lockscope::ctl
