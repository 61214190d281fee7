// SPDX-License-Identifier: Apache-2.0
// The pending callAt calls of a loop, earliest first; calls of one moment run in the order made.
// A cancelled call is dropped at once with everything it captured.
#pragma once

#include "core/async/loop.h"

#include <optional>
#include <vector>

namespace lockscope {

// The calls in places that are used again, and heaps of when each of them falls due. Who is cancelled leaves its
// entry in the heap behind, until that comes up or there are more such entries than others. What nobody cancels has a
// heap of its own: in a simulated world those are messages on their way, a few beside 100,000 timeouts.
class TimerTable {
public:
    struct Due {
        Instant when;
        unsigned long long id; // the order made decides within a moment
        std::size_t slot;
    };
    Due add(Instant when, Call &&call) { return add(m_heap, when, std::move(call)); }
    void addKept(Instant when, Call &&call) { add(m_kept, when, std::move(call)); }
    // Nothing if it ran already.
    void drop(std::size_t slot, unsigned long long id);
    [[nodiscard]] const Due *first() const;
    [[nodiscard]] Call takeFirst();

private:
    struct Slot {
        Call call;
        unsigned long long id = 0; // 0: free
    };
    using Heap = std::vector<Due>;
    Due add(Heap &heap, Instant when, Call &&call);
    [[nodiscard]] bool isKeptFirst() const;
    [[nodiscard]] Call vacate(std::size_t slot);
    static void removeFirst(Heap &heap);
    // So that the first entry always stands for a call.
    void tidy();

    std::vector<Slot> m_slots;
    std::vector<std::size_t> m_free;
    Heap m_heap, m_kept;
    unsigned long long m_lastId = 0;
};

class TimerQueue {
public:
    TimerQueue() : m_table(std::make_shared<TimerTable>()) {}

    [[nodiscard]] Timer add(Instant when, Call &&call);
    // One that nobody cancels.
    void addKept(Instant when, Call &&call);
    [[nodiscard]] std::optional<Instant> next() const;
    // The earliest call that is due, taken out of the queue.
    [[nodiscard]] Call takeDue(Instant now);

private:
    std::shared_ptr<TimerTable> m_table;
};

} // namespace lockscope
