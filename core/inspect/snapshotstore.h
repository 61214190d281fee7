// SPDX-License-Identifier: Apache-2.0
// An observer's snapshots as last told, by where they were seen, and what a new look changes. Every observer tells
// what changed by one of these.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>

namespace lockscope::inspect {

class SnapshotStore {
public:
    // Moments of expiry that differ by no more than `wavering` are no news.
    explicit SnapshotStore(std::chrono::milliseconds wavering = {}) : m_wavering(wavering) {}

    // What is seen at `source` (a directory, a key, or all of a server) now instead of what was seen there before.
    [[nodiscard]] std::vector<SnapshotChange> replace(const QByteArray &source, std::vector<LockSnapshot> now);

    // Those of more than low confidence. The others at `source` are not kept, only counted.
    [[nodiscard]] std::vector<LockSnapshot> withoutLow(const QByteArray &source, std::vector<LockSnapshot> now);
    [[nodiscard]] HiddenLocks hidden() const;
    [[nodiscard]] bool hasHidden(const QByteArray &source) const { return m_hidden.contains(source); }

    [[nodiscard]] const LockSnapshot *find(const QByteArray &name) const;
    [[nodiscard]] std::optional<QByteArray> sourceOf(const QByteArray &name) const;
    [[nodiscard]] std::vector<LockSnapshot> all() const;
    // Source and snapshot, by name.
    [[nodiscard]] const std::map<QByteArray, std::pair<QByteArray, LockSnapshot>> &entries() const { return m_locks; }

private:
    std::map<QByteArray, std::pair<QByteArray, LockSnapshot>> m_locks;
    std::map<QByteArray, std::vector<QByteArray>> m_names; // by source
    std::map<QByteArray, HiddenLocks> m_hidden;            // the same
    std::chrono::milliseconds m_wavering;
};

// Whether two snapshots of a lock say the same, so that there is no news to tell.

// Whether a person or a program would call them the same: not when they were looked at, nor the seconds
// in a message that counts them, nor moments that differ by no more than `wavering` (those of messages: a second).
[[nodiscard]] bool isEquivalent(const LockSnapshot &before, const LockSnapshot &now,
                                std::chrono::milliseconds wavering = {});
// Whether a recording says the same of both, which does not have what SQL clients run.
[[nodiscard]] bool isRecordedAlike(const LockSnapshot &before, LockSnapshot now);

} // namespace lockscope::inspect
