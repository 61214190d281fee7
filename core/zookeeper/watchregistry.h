// SPDX-License-Identifier: Apache-2.0
// The watches of one session: who listens on which path, and how many bytes of paths that makes.
//
// After a reconnect the C client sends every watched path again in a single packet; beyond the server's
// buffer that is an endless loop of reconnects. Hence the budget. Any number of listeners on one path
// and kind share the server's one watch and count once. Loop thread only.
#pragma once

#include "core/zookeeper/session.h"

#include <unordered_map>

namespace lockscope::zk {

class WatchRegistry {
public:
    // `prefixBytes`: the chroot, which the client puts before every path it sends.
    WatchRegistry(qsizetype budgetBytes, qsizetype prefixBytes)
        : m_budgetBytes(budgetBytes), m_prefixBytes(prefixBytes)
    {
    }

    // Before a read with a watch leaves: books its place. False when the budget does not allow it.
    [[nodiscard]] bool reserve(const ZPath &path, WatchKind kind);
    // The read is answered, and it set the watch (the listener may now be called), or it did not.
    void arm(const ZPath &path, WatchKind kind, Watch listener);
    void release(const ZPath &path, WatchKind kind);

    void fire(const ZPath &path, WatchKind kind, EventKind event);
    // Taken off: the listeners are never called.
    void remove(const ZPath &path, WatchKind kind);
    // The session is over: everybody is told so.
    void endSession();

    [[nodiscard]] qsizetype bytes() const { return m_bytes; }
    [[nodiscard]] qsizetype budgetBytes() const { return m_budgetBytes; }
    // Paths and kinds that are watched or about to be.
    [[nodiscard]] int count() const { return static_cast<int>(m_slots.size()); }

private:
    struct Key {
        ZPath path;
        WatchKind kind;
        friend bool operator==(const Key &, const Key &) = default;
    };
    struct KeyHash {
        size_t operator()(const Key &key) const { return qHash(key.path, static_cast<size_t>(key.kind)); }
    };
    struct WatchSlot {
        int reserved = 0; // reads under way
        std::vector<Watch> listeners;
    };
    using WatchSlots = std::unordered_map<Key, WatchSlot, KeyHash>;

    [[nodiscard]] qsizetype bytesOf(const ZPath &path) const { return m_prefixBytes + path.bytes().size(); }
    void dropIfEmpty(WatchSlots::iterator at);

    qsizetype m_budgetBytes;
    qsizetype m_prefixBytes;
    qsizetype m_bytes = 0;
    WatchSlots m_slots;
};

} // namespace lockscope::zk
