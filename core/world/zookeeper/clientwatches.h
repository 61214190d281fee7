// SPDX-License-Identifier: Apache-2.0
// The watches of one simulated session: who listens on which path, how many bytes of paths that makes, and
// what has to be watched again after a reconnect. As zk::WatchRegistry, but walked in the order of the paths.
#pragma once

#include "core/world/zookeeper/protocol.h"

namespace lockscope::world::zookeeper {

class ClientWatches {
public:
    explicit ClientWatches(qsizetype budgetBytes) : m_budgetBytes(budgetBytes) {}

    // Before a read with a watch leaves: books its place. False when the budget does not allow it.
    [[nodiscard]] bool reserve(const ZPath &path, zk::WatchKind kind);
    // The read is answered: it set the watch, on a node that is there or on one that is missing; or it did not.
    void arm(const ZPath &path, zk::WatchKind kind, bool isMissing, zk::Watch listener);
    void release(const ZPath &path, zk::WatchKind kind);

    // To all whom it concerns: both kinds, when the node is gone.
    void fire(const zk::WatchEvent &event);
    // Taken off: the listeners are never called.
    void remove(const ZPath &path, zk::WatchKind kind);
    // The session is over: everybody is told so.
    void endSession();
    void putInto(Hello &hello) const;

    [[nodiscard]] qsizetype bytes() const { return m_bytes; }
    [[nodiscard]] qsizetype budgetBytes() const { return m_budgetBytes; }
    [[nodiscard]] int count() const { return static_cast<int>(m_slots.size()); }

private:
    struct WatchSlot {
        int reserved = 0;                       // reads under way
        bool onNode = false, onMissing = false; // what the servers watch
        std::vector<zk::Watch, freelist::Allocator<zk::Watch>> listeners;
    };
    struct Key {
        ZPath path;
        zk::WatchKind kind;
    };
    // To be looked for by: a path is not copied for that.
    struct Sought {
        const ZPath &path;
        zk::WatchKind kind;
    };
    struct IsBefore {
        using is_transparent = void;
        bool operator()(const auto &a, const auto &b) const
        {
            // Mostly one and the same: who waits at a lock keeps its path for as long.
            const auto &its = a.path.bytes(), &others = b.path.bytes();
            if (its.constData() == others.constData() && its.size() == others.size())
                return a.kind < b.kind;
            const auto order = a.path <=> b.path;
            return order < 0 || (order == 0 && a.kind < b.kind);
        }
    };
    using WatchSlots = std::map<Key, WatchSlot, IsBefore, freelist::Allocator<std::pair<const Key, WatchSlot>>>;
    void fireOne(const zk::WatchEvent &event, zk::WatchKind kind);
    void dropIfEmpty(WatchSlots::iterator at);

    qsizetype m_budgetBytes;
    qsizetype m_bytes = 0;
    WatchSlots m_slots;
    // The last one of a directory that was given up: that is watched again and again, a predecessor once.
    WatchSlots::node_type m_spare;
};

} // namespace lockscope::world::zookeeper
