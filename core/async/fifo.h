// SPDX-License-Identifier: Apache-2.0
// First in, first out, in one piece of memory: for queues that are short or empty most of the time, of which there
// may be very many. (A std::deque takes half a kilobyte when it is empty.)
#pragma once

#include <version>

#include "core/async/freelist.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace lockscope {

template <class T>
class Fifo {
public:
    void push(T &&item) { m_items.push_back(std::move(item)); }
    template <class... Parts>
    void emplace(Parts &&...parts)
    {
        m_items.emplace_back(std::forward<Parts>(parts)...);
    }
    [[nodiscard]] bool isEmpty() const { return m_begin == m_items.size(); }
    // Only when not empty.
    [[nodiscard]] T take()
    {
        constexpr std::size_t least = 64;
        auto first = std::move(m_items[m_begin]);
        if (++m_begin == m_items.size()) {
            m_items.clear();
            m_begin = 0;
        } else if (m_begin >= least && 2 * m_begin >= m_items.size()) {
            // As many are moved as were taken since the last time.
            m_items.erase(m_items.begin(), m_items.begin() + static_cast<std::ptrdiff_t>(m_begin));
            m_begin = 0;
        }
        return first;
    }

private:
    using Items = std::vector<T, freelist::Allocator<T>>;
    Items m_items;
    std::size_t m_begin = 0;
};

} // namespace lockscope
