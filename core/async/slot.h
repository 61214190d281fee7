// SPDX-License-Identifier: Apache-2.0
// Slot<T>: the place of a value that comes later, once. Neither copied nor moved itself.
//
// Instead of std::optional, whose layers the compiler builds anew for each of the hundreds of types that coroutines
// answer with.
#pragma once

#include <version>

#include <memory>
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

} // namespace lockscope
