// SPDX-License-Identifier: Apache-2.0
// Findings as a command has them: with their locks and mutes, and for how long each one lasts.
#pragma once

#include "app/lockscopectl/command.h"
#include "core/workspace/mutes.h"

namespace lockscope::ctl {

struct FoundFinding {
    inspect::Finding finding;
    std::optional<Mute> muted{};
    std::vector<std::pair<inspect::LockName, QByteArray>> contenders;
    std::vector<inspect::LockName> locks; // one, but of a deadlock all, and of an unexplained wait none
    ConnectionName connection{};          // of an unexplained wait and an ended deadlock
    std::optional<inspect::EndedDeadlock> ended{};
};

struct FindingsLook {
    std::vector<inspect::LockSnapshot> locks;
    inspect::WaitGraph graph;
    std::vector<FoundFinding> all{}; // most severe first
};

// What is there now, of the locks that --match selects. Reads again what a deadlock consists of.
[[nodiscard]] Task<FindingsLook> lookForFindings(CommandContext &context);
[[nodiscard]] bool isMatched(const CommandContext &context, const inspect::LockName &lock);
[[nodiscard]] QJsonObject findingJson(const FoundFinding &found);

// Since when each finding was there in every look. It is the same one while its code and locks are, and while one of
// its contenders is among those of each look: a lock that one client after another holds for long is not held by one.
class LastingFindings {
public:
    using Number = quint64; // of a finding, for as long as it lasts

    // The numbers of `all`, in their order. `isKnown`: whether that connection was read. What was there on one that
    // is not stays.
    [[nodiscard]] std::vector<Number> see(const std::vector<FoundFinding> &all, Instant now,
                                          const std::function<bool(const ConnectionName &)> &isKnown);
    // How long it has lasted.
    [[nodiscard]] Duration lasts(Number number, Instant now) const { return now - m_since.at(number); }
    [[nodiscard]] bool isEmpty() const { return m_since.empty(); }

private:
    using Key = std::pair<inspect::FindingCode, QByteArray>; // its locks, or its connection
    struct Seen {
        Number number = 0;
        std::set<QByteArray> contenders;
        std::set<ConnectionName> connections;
    };
    [[nodiscard]] static Key keyOf(const FoundFinding &found);
    [[nodiscard]] Seen claim(const Key &key, Seen now);

    std::multimap<Key, Seen> m_seen;
    std::map<Number, Instant> m_since;
    Number m_last = 0;
};
// The connections of its locks, or its own.
[[nodiscard]] std::set<ConnectionName> connectionsOf(const FoundFinding &found);

} // namespace lockscope::ctl
