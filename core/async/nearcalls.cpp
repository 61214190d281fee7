// SPDX-License-Identifier: Apache-2.0
#include "core/async/nearcalls.h"

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

} // namespace lockscope
