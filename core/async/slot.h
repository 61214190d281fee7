// SPDX-License-Identifier: Apache-2.0
// Slot<T>: the place of a value that comes later, once. Neither copied nor moved itself.
//
// Instead of std::optional, whose layers the compiler builds anew for each of the hundreds of types that coroutines
// answer with.
#pragma once

#include <version>

#include "core/async/freelist.h"

#include <memory>
#include <new>
#include <utility>

namespace lockscope {

template <class T>
class Slot {
public:
    Slot() {} // nothing in it yet
    Slot(const Slot &) = delete;
    Slot &operator=(const Slot &) = delete;
    ~Slot()
    {
        if (m_isFilled)
            std::destroy_at(&m_value);
    }

    [[nodiscard]] bool isFilled() const { return m_isFilled; }
    // Once.
    template <class U>
    void fill(U &&value)
    {
        std::construct_at(&m_value, std::forward<U>(value));
        m_isFilled = true;
    }
    // Only when filled.
    [[nodiscard]] T &value() { return m_value; }

private:
    union {
        T m_value;
    };
    bool m_isFilled = false;
};

// The same in one pointer: what arrives has a block of its own, and while nothing has there is no room for it.
template <class T>
class FarSlot {
public:
    FarSlot() = default;
    FarSlot(const FarSlot &) = delete;
    FarSlot &operator=(const FarSlot &) = delete;
    ~FarSlot()
    {
        if (!m_value)
            return;
        std::destroy_at(m_value);
        freelist::give(m_value, sizeof(T));
    }

    [[nodiscard]] bool isFilled() const { return m_value; }
    // Once.
    template <class U>
    void fill(U &&value)
    {
        m_value = new (freelist::take(sizeof(T))) T(std::forward<U>(value));
    }
    // Only when filled.
    [[nodiscard]] T &value() { return *m_value; }

private:
    T *m_value = nullptr;
};

} // namespace lockscope
