// SPDX-License-Identifier: Apache-2.0
// The pending callAt calls of a loop, earliest first; calls of one moment run in the order made.
// A cancelled call is dropped at once with everything it captured.
#pragma once

#include "core/async/loop.h"

#include <optional>
#include <vector>

namespace lockscope {

// The calls in places that are used again, and a heap of when each of them falls due. Who is cancelled leaves its
// entry in the heap behind, until that comes up or there are more such entries than others.
class TimerTable {
public:
    struct Due {
        Instant when;
        unsigned long long id; // the order made decides within a moment
        std::size_t slot;
    };
    Due add(Instant when, Call &&call);
    // Nothing if it ran already.
    void drop(std::size_t slot, unsigned long long id);
    [[nodiscard]] const Due *first() const { return m_heap.empty() ? nullptr : &m_heap.front(); }
    [[nodiscard]] Call takeFirst();

private:
    struct Slot {
        Call call;
        unsigned long long id = 0; // 0: free
    };
    [[nodiscard]] Call vacate(std::size_t slot);
    void removeFirst();
    // So that the first entry always stands for a call.
    void tidy();

    std::vector<Slot> m_slots;
    std::vector<std::size_t> m_free;
    std::vector<Due> m_heap;
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
