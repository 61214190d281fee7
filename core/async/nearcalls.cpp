// SPDX-License-Identifier: Apache-2.0
#include "core/async/nearcalls.h"

#include <bit>

namespace lockscope {

NearCalls::~NearCalls()
{
    while (!isEmpty())
        const auto dropped = take();
}

void NearCalls::put(Instant when, unsigned long long id, Call &&call)
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

Call NearCalls::take()
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
    auto call = std::move(first->call);
    first->~Entry();
    freelist::give(first, sizeof(Entry));
    return call;
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
