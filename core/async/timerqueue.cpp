// SPDX-License-Identifier: Apache-2.0
#include "core/async/timerqueue.h"

#include <algorithm>

namespace lockscope {

namespace {

// A type and not a function, so that the heap's algorithms have it in line.
struct IsLater {
    bool operator()(const TimerTable::Due &a, const TimerTable::Due &b) const
    {
        return a.when != b.when ? a.when > b.when : a.id > b.id;
    }
};

// What a Timer keeps alive: it finds its entry again by slot and number, so it stays valid after the call ran.
struct Handle {
    std::weak_ptr<TimerTable> table;
    std::size_t slot;
    unsigned long long id;

    Handle(std::weak_ptr<TimerTable> table_, std::size_t slot_, unsigned long long id_)
        : table(std::move(table_)), slot(slot_), id(id_)
    {
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle()
    {
        if (const auto alive = table.lock())
            alive->drop(slot, id);
    }
};

} // namespace

TimerTable::Due TimerTable::add(Heap &heap, Instant when, Call &&call)
{
    if (m_free.empty()) {
        m_free.push_back(m_slots.size());
        m_slots.emplace_back();
    }
    const auto slot = m_free.back();
    m_free.pop_back();
    m_slots[slot].call = std::move(call);
    m_slots[slot].id = ++m_lastId;
    const Due due{when, m_lastId, slot};
    heap.push_back(due);
    std::push_heap(heap.begin(), heap.end(), IsLater());
    return due;
}

bool TimerTable::isKeptFirst() const
{
    return !m_kept.empty() && (m_heap.empty() || IsLater()(m_heap.front(), m_kept.front()));
}

const TimerTable::Due *TimerTable::first() const
{
    if (isKeptFirst())
        return &m_kept.front();
    return m_heap.empty() ? nullptr : &m_heap.front();
}

Call TimerTable::vacate(std::size_t slot)
{
    auto call = std::move(m_slots[slot].call);
    m_slots[slot].id = 0;
    m_free.push_back(slot);
    return call;
}

void TimerTable::drop(std::size_t slot, unsigned long long id)
{
    if (m_slots[slot].id != id)
        return;
    // Goes last: what it captured may come back here.
    const auto dropped = vacate(slot);
    tidy();
}

void TimerTable::removeFirst(Heap &heap)
{
    std::pop_heap(heap.begin(), heap.end(), IsLater());
    heap.pop_back();
}

void TimerTable::tidy()
{
    const auto isLeft = [this](const Due &due) { return m_slots[due.slot].id != due.id; };
    const auto alive = m_slots.size() - m_free.size() - m_kept.size();
    if (m_heap.size() > 64 + 2 * alive) {
        std::erase_if(m_heap, isLeft);
        std::make_heap(m_heap.begin(), m_heap.end(), IsLater());
    }
    while (!m_heap.empty() && isLeft(m_heap.front()))
        removeFirst(m_heap);
}

Call TimerTable::takeFirst()
{
    const bool isKept = isKeptFirst();
    auto &heap = isKept ? m_kept : m_heap;
    auto call = vacate(heap.front().slot);
    removeFirst(heap);
    if (!isKept)
        tidy();
    return call;
}

Timer TimerQueue::add(Instant when, Call &&call)
{
    const auto due = m_table->add(when, std::move(call));
    return Timer(std::allocate_shared<Handle>(freelist::Allocator<Handle>(), m_table, due.slot, due.id));
}

void TimerQueue::addKept(Instant when, Call &&call)
{
    m_table->addKept(when, std::move(call));
}

std::optional<Instant> TimerQueue::next() const
{
    const auto *const first = m_table->first();
    return first ? std::optional(first->when) : std::nullopt;
}

Call TimerQueue::takeDue(Instant now)
{
    const auto *const first = m_table->first();
    if (!first || first->when > now)
        return {};
    return m_table->takeFirst();
}

} // namespace lockscope
