// SPDX-License-Identifier: Apache-2.0
// The pending callAt calls of a loop, earliest first; calls of one moment run in the order made.
// A cancelled call is dropped at once with everything it captured.
#pragma once

#include "core/async/nearcalls.h"

#include <QtGlobal>

#include <array>
#include <optional>
#include <vector>

namespace lockscope {

// The calls in places that are used again, and heaps of when each of them falls due. What a crowd took at once is
// given back when it has gone. Who is cancelled leaves its entry in the heap behind, until that comes up or there
// are more such entries than others. What nobody cancels has places of its own: in a simulated world those are
// messages on their way, which fall due soon, or a heap, a few beside 100,000 timeouts.
class TimerTable {
public:
    struct Due {
        Instant when;
        unsigned long long id; // the order made decides within a moment
        quint32 slot;
    };
    Due add(Instant when, Call &&call) { return add(m_heap, when, std::move(call)); }
    // Of a clock that says `now` and has let everything before run.
    void addKept(Instant now, Instant when, NearCalls::NearCall &&call);
    // Nothing if it ran already.
    void drop(quint32 slot, unsigned long long id);
    [[nodiscard]] std::optional<Instant> next() const;
    bool runDue(Instant until, Instant *now);

private:
    struct Slot {
        Call call;
        unsigned long long id = 0; // 0: free
    };
    static constexpr quint32 slotsPerChunk = 64; // a bit for each
    struct Chunk {
        quint64 taken = 0;
        std::array<Slot, slotsPerChunk> places;
    };
    using Heap = std::vector<Due>;
    // Where the next call comes from, and when it is due.
    struct Source {
        Instant when = Instant::max();
        unsigned long long id = 0;
        const Heap *heap = nullptr; // null: the near ones, or none
        bool isNear = false;
        [[nodiscard]] bool isNone() const { return !heap && !isNear; }
        [[nodiscard]] bool isAfter(Instant otherWhen, unsigned long long otherId) const
        {
            return isNone() || when > otherWhen || (when == otherWhen && id > otherId);
        }
    };
    Due add(Heap &heap, Instant when, Call &&call);
    [[nodiscard]] Source first() const;
    [[nodiscard]] quint32 freeSlot();
    [[nodiscard]] bool isLeft(const Due &due) const;
    [[nodiscard]] Slot &at(quint32 slot) { return m_chunks[slot / slotsPerChunk]->places[slot % slotsPerChunk]; }
    [[nodiscard]] Call vacate(quint32 slot);
    static void removeFirst(Heap &heap);
    // So that the first entry always stands for a call.
    void tidy();

    std::vector<std::unique_ptr<Chunk>> m_chunks; // null where nothing is
    std::unique_ptr<Chunk> m_spare;               // so that one call after the other takes no memory
    std::vector<quint32> m_withRoom;              // chunks that are not full
    std::size_t m_alive = 0;
    Heap m_heap, m_kept;
    std::unique_ptr<NearCalls> m_near; // once there is one
    unsigned long long m_lastId = 0;
};

class TimerQueue {
public:
    TimerQueue() : m_table(std::make_shared<TimerTable>()) {}

    [[nodiscard]] Timer add(Instant when, Call &&call);
    // One that nobody cancels. `now`: everything before has run.
    void addKept(Instant now, Instant when, NearCalls::NearCall &&call);
    [[nodiscard]] std::optional<Instant> next() const;
    // Takes the earliest call that is due by then out of the queue and runs it; false when there is none. The clock
    // `now`, if given, is set to when it was due before, unless it is past that.
    bool runDue(Instant until, Instant *now = nullptr);

private:
    std::shared_ptr<TimerTable> m_table;
};

} // namespace lockscope
