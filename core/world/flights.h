// SPDX-License-Identifier: Apache-2.0
// What is on its way in one direction of a link, first in, first out: mostly nothing, or one message. Each has a
// block of its own and the link one pointer, for of links there may be 100,000.
#pragma once

#include "core/async/loop.h"

namespace lockscope::world {

class Flights {
public:
    Flights() = default;
    Flights(Flights &&other) noexcept : m_last(std::exchange(other.m_last, nullptr)) {}
    Flights &operator=(Flights other) noexcept
    {
        std::swap(m_last, other.m_last);
        return *this;
    }
    ~Flights()
    {
        while (!isEmpty())
            const auto ended = take();
    }

    [[nodiscard]] bool isEmpty() const { return !m_last; }
    void push(Call &&arrives)
    {
        auto *const flight = new (freelist::take(sizeof(Flight))) Flight{std::move(arrives), nullptr};
        flight->next = m_last ? std::exchange(m_last->next, flight) : flight;
        m_last = flight;
    }
    // Only when not empty.
    [[nodiscard]] Call take()
    {
        auto *const first = m_last->next;
        if (first == m_last)
            m_last = nullptr;
        else
            m_last->next = first->next;
        auto arrives = std::move(first->arrives);
        first->~Flight();
        freelist::give(first, sizeof(Flight));
        return arrives;
    }

private:
    struct Flight {
        Call arrives;
        Flight *next; // of the last one: the first
    };
    Flight *m_last = nullptr;
};

} // namespace lockscope::world
