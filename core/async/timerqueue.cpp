// SPDX-License-Identifier: Apache-2.0
#include "core/async/timerqueue.h"

#include <algorithm>
#include <bit>

namespace lockscope {

NearCalls::~NearCalls()
{
    while (!isEmpty())
        drop(takeFirst());
}

void NearCalls::put(Instant when, unsigned long long id, NearCall &&call)
{
    const auto place = placeOf(when);
    auto *const entry = new (freelist::take(sizeof(Entry))) Entry{std::move(call), id, nullptr};
    auto *&last = m_last[place];
    entry->next = last ? std::exchange(last->next, entry) : entry;
    last = entry;
    m_isThere[place / bits] |= quint64(1) << place % bits;
    if (m_count++ == 0 || when < m_first)
        m_first = when;
}

NearCalls::Entry *NearCalls::takeFirst()
{
    const auto place = placeOf(m_first);
    auto *&last = m_last[place];
    auto *const first = last->next;
    --m_count;
    // What comes next was put there long ago: it is fetched while this one runs.
    if (first != last) {
        last->next = first->next;
        __builtin_prefetch(first->next);
    } else {
        last = nullptr;
        m_isThere[place / bits] &= ~(quint64(1) << place % bits);
        if (m_count > 0) {
            m_first += Duration(toNextFrom(place));
            __builtin_prefetch(m_last[placeOf(m_first)]);
        }
    }
    return first;
}

void NearCalls::drop(Entry *entry)
{
    entry->~Entry();
    freelist::give(entry, sizeof(Entry));
}

// Where it is: it was moved here when it was sent, and is not moved again.
void NearCalls::runFirst()
{
    auto *const first = takeFirst();
    first->call();
    drop(first);
}

// How far it is from there to the next place where something is, round the end.
std::size_t NearCalls::toNextFrom(std::size_t place) const
{
    auto word = place / bits;
    auto rest = m_isThere[word] >> place % bits << place % bits;
    for (; rest == 0; rest = m_isThere[word])
        word = (word + 1) % m_isThere.size();
    const auto found = word * bits + static_cast<std::size_t>(std::countr_zero(rest));
    return (found + places - place) % places;
}

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
    quint32 slot;
    unsigned long long id;

    Handle(std::weak_ptr<TimerTable> table_, quint32 slot_, unsigned long long id_)
        : table(std::move(table_)), slot(slot_), id(id_)
    {
    }
    Q_DISABLE_COPY(Handle)
    ~Handle()
    {
        if (const auto alive = table.lock())
            alive->drop(slot, id);
    }
};

// A heap that a crowd has left goes on in less memory.
void shrink(std::vector<TimerTable::Due> &heap)
{
    constexpr std::size_t small = 1024;
    if (heap.capacity() > small && heap.size() < heap.capacity() / 8)
        std::vector<TimerTable::Due>(heap).swap(heap); // shrink_to_fit() does nothing without exceptions
}

} // namespace

quint32 TimerTable::freeSlot()
{
    if (m_withRoom.empty()) {
        m_withRoom.push_back(static_cast<quint32>(m_chunks.size()));
        m_chunks.emplace_back();
    }
    const auto number = m_withRoom.back();
    auto &chunk = m_chunks[number];
    if (!chunk)
        chunk = m_spare ? std::move(m_spare) : std::make_unique<Chunk>();
    const auto place = static_cast<quint32>(std::countr_one(chunk->taken));
    chunk->taken |= quint64(1) << place;
    if (chunk->taken == ~quint64(0))
        m_withRoom.pop_back();
    ++m_alive;
    return number * slotsPerChunk + place;
}

TimerTable::Due TimerTable::add(Heap &heap, Instant when, Call &&call)
{
    const auto slot = freeSlot();
    at(slot).call = std::move(call);
    at(slot).id = ++m_lastId;
    const Due due{when, m_lastId, slot};
    heap.push_back(due);
    std::push_heap(heap.begin(), heap.end(), IsLater());
    return due;
}

void TimerTable::addKept(Instant now, Instant when, NearCalls::NearCall &&call)
{
    if (!NearCalls::isNear(now, when)) {
        add(m_kept, when, Call(std::move(call)));
        return;
    }
    if (!m_near)
        m_near = std::make_unique<NearCalls>();
    m_near->put(when, ++m_lastId, std::move(call));
}

TimerTable::Source TimerTable::first() const
{
    Source first;
    for (const auto *heap : {&m_kept, &m_heap}) {
        if (!heap->empty() && first.isAfter(heap->front().when, heap->front().id))
            first = {heap->front().when, heap->front().id, heap, false};
    }
    // Last, for mostly it is one of these, and its number need not be asked for.
    if (!m_near || m_near->isEmpty() || m_near->firstWhen() > first.when)
        return first;
    if (m_near->firstWhen() < first.when || first.isNone() || m_near->firstId() < first.id)
        first = {m_near->firstWhen(), 0, nullptr, true};
    return first;
}

std::optional<Instant> TimerTable::next() const
{
    const auto earliest = first();
    return earliest.isNone() ? std::nullopt : std::optional(earliest.when);
}

Call TimerTable::vacate(quint32 slot)
{
    auto call = std::move(at(slot).call);
    at(slot).id = 0;
    const auto number = slot / slotsPerChunk;
    auto &chunk = m_chunks[number];
    if (chunk->taken == ~quint64(0))
        m_withRoom.push_back(number);
    chunk->taken &= ~(quint64(1) << slot % slotsPerChunk);
    if (chunk->taken == 0)
        m_spare = std::move(chunk);
    --m_alive;
    return call;
}

bool TimerTable::isLeft(const Due &due) const
{
    const auto &chunk = m_chunks[due.slot / slotsPerChunk];
    return !chunk || chunk->places[due.slot % slotsPerChunk].id != due.id;
}

void TimerTable::drop(quint32 slot, unsigned long long id)
{
    if (isLeft({{}, id, slot}))
        return;
    // Goes last: what it captured may come back here.
    const auto dropped = vacate(slot);
    tidy();
}

void TimerTable::removeFirst(Heap &heap)
{
    std::pop_heap(heap.begin(), heap.end(), IsLater());
    heap.pop_back();
    shrink(heap);
}

void TimerTable::tidy()
{
    const auto alive = m_alive - m_kept.size();
    if (m_heap.size() > 64 + 2 * alive) {
        std::erase_if(m_heap, [this](const Due &due) { return isLeft(due); });
        shrink(m_heap);
        std::make_heap(m_heap.begin(), m_heap.end(), IsLater());
    }
    while (!m_heap.empty() && isLeft(m_heap.front()))
        removeFirst(m_heap);
}

bool TimerTable::runDue(Instant until, Instant *now)
{
    const auto earliest = first();
    if (earliest.isNone() || earliest.when > until)
        return false;
    if (now)
        *now = std::max(*now, earliest.when);
    if (earliest.isNear) {
        m_near->runFirst();
        return true;
    }
    auto &heap = earliest.heap == &m_kept ? m_kept : m_heap;
    const auto call = vacate(heap.front().slot);
    removeFirst(heap);
    if (&heap == &m_heap)
        tidy();
    call(); // last: the loop may go with it
    return true;
}

Timer TimerQueue::add(Instant when, Call &&call)
{
    const auto due = m_table->add(when, std::move(call));
    return Timer(std::allocate_shared<Handle>(freelist::Allocator<Handle>(), m_table, due.slot, due.id));
}

} // namespace lockscope
