// SPDX-License-Identifier: Apache-2.0
#include "core/async/timerqueue.h"

#include <algorithm>

namespace lockscope {

namespace {

bool isLater(const TimerTable::Due &a, const TimerTable::Due &b)
{
    return a.when != b.when ? a.when > b.when : a.id > b.id;
}

// What a Timer keeps alive: it finds its entry again by place and number, so it stays valid after the call ran.
struct Handle {
    std::weak_ptr<TimerTable> table;
    std::size_t place;
    unsigned long long id;

    Handle(std::weak_ptr<TimerTable> table_, std::size_t place_, unsigned long long id_)
        : table(std::move(table_)), place(place_), id(id_)
    {
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle()
    {
        if (const auto alive = table.lock())
            alive->drop(place, id);
    }
};

} // namespace

TimerTable::Due TimerTable::add(Instant when, Call &&call)
{
    if (m_free.empty()) {
        m_free.push_back(m_places.size());
        m_places.emplace_back();
    }
    const auto place = m_free.back();
    m_free.pop_back();
    m_places[place].call = std::move(call);
    m_places[place].id = ++m_lastId;
    const Due due{when, m_lastId, place};
    m_heap.push_back(due);
    std::push_heap(m_heap.begin(), m_heap.end(), isLater);
    return due;
}

Call TimerTable::vacate(std::size_t place)
{
    auto call = std::move(m_places[place].call);
    m_places[place].id = 0;
    m_free.push_back(place);
    return call;
}

void TimerTable::drop(std::size_t place, unsigned long long id)
{
    if (m_places[place].id != id)
        return;
    // Goes last: what it captured may come back here.
    const auto dropped = vacate(place);
    tidy();
}

void TimerTable::removeFirst()
{
    std::pop_heap(m_heap.begin(), m_heap.end(), isLater);
    m_heap.pop_back();
}

void TimerTable::tidy()
{
    const auto isLeft = [this](const Due &due) { return m_places[due.place].id != due.id; };
    const auto alive = m_places.size() - m_free.size();
    if (m_heap.size() > 64 + 2 * alive) {
        std::erase_if(m_heap, isLeft);
        std::make_heap(m_heap.begin(), m_heap.end(), isLater);
    }
    while (!m_heap.empty() && isLeft(m_heap.front()))
        removeFirst();
}

Call TimerTable::takeFirst()
{
    auto call = vacate(m_heap.front().place);
    removeFirst();
    tidy();
    return call;
}

Timer TimerQueue::add(Instant when, Call &&call)
{
    const auto due = m_table->add(when, std::move(call));
    return Timer(std::allocate_shared<Handle>(blocks::Allocator<Handle>(), m_table, due.place, due.id));
}

void TimerQueue::addKept(Instant when, Call &&call)
{
    m_table->add(when, std::move(call));
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
