// SPDX-License-Identifier: Apache-2.0
// The pending callAt calls of a loop, earliest first; calls of one moment run in the order made.
// A cancelled call is dropped at once with everything it captured.
#pragma once

#include "core/async/loop.h"

#include <QtGlobal>

#include <vector>

namespace lockscope {

// Calls that fall due soon and that nobody cancels: messages of a simulated world, millions of them. A place for each
// of the next thousand microseconds, so that neither who puts one there nor who takes the first asks how many wait.
class NearCalls {
public:
    // With room for a message and whose link it is on.
    using NearCall = MoveOnlyFunction<void(), 88>;

    NearCalls() = default;
    NearCalls(const NearCalls &) = delete;
    NearCalls &operator=(const NearCalls &) = delete;
    ~NearCalls();

    [[nodiscard]] static bool isNear(Instant now, Instant when) { return when >= now && when < now + span; }
    // `isNear(now, when)`; whatever was due before now has been taken. `id` grows: calls of one moment are in its
    // order.
    void put(Instant when, unsigned long long id, NearCall &&call);
    [[nodiscard]] bool isEmpty() const { return m_count == 0; }
    // Only when not empty, as below.
    [[nodiscard]] Instant firstWhen() const { return m_first; }
    [[nodiscard]] unsigned long long firstId() const { return m_last[placeOf(m_first)]->next->id; }
    void runFirst();

private:
    static constexpr std::size_t places = 1024, bits = 64;
    static constexpr Duration span{places};
    struct Entry {
        NearCall call;
        unsigned long long id;
        Entry *next; // of the last one: the first
    };
    [[nodiscard]] static std::size_t placeOf(Instant when)
    {
        return static_cast<std::size_t>(when.time_since_epoch().count()) % places;
    }
    [[nodiscard]] std::size_t toNextFrom(std::size_t place) const;
    // It is the caller's then.
    [[nodiscard]] Entry *takeFirst();
    static void drop(Entry *entry);

    std::array<Entry *, places> m_last{};           // of each moment
    std::array<quint64, places / bits> m_isThere{}; // a bit for each of them
    std::size_t m_count = 0;
    Instant m_first{};
};

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
    void addKept(Instant now, Instant when, NearCalls::NearCall &&call)
    {
        m_table->addKept(now, when, std::move(call));
    }
    [[nodiscard]] std::optional<Instant> next() const { return m_table->next(); }
    // Takes the earliest call that is due by then out of the queue and runs it; false when there is none. The clock
    // `now`, if given, is set to when it was due before, unless it is past that.
    bool runDue(Instant until, Instant *now = nullptr) { return m_table->runDue(until, now); }

private:
    std::shared_ptr<TimerTable> m_table;
};

} // namespace lockscope
