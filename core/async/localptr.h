// SPDX-License-Identifier: Apache-2.0
// LocalPtr<T>: shared, and counted in what it points to, on one thread alone. A std::shared_ptr counts as if other
// threads did, too, which takes its time where there are several for each of millions of messages.
#pragma once

#include <utility>

namespace lockscope {

class LocallyCounted {
public:
    LocallyCounted() = default;
    LocallyCounted(const LocallyCounted &) = delete;
    LocallyCounted &operator=(const LocallyCounted &) = delete;
    virtual ~LocallyCounted() = default;

private:
    template <class T>
    friend class LocalPtr;
    int m_holders = 0;
};

template <class T>
class LocalPtr {
public:
    LocalPtr() = default;
    explicit LocalPtr(T *kept) noexcept : m_kept(kept)
    {
        if (m_kept)
            ++counted().m_holders;
    }
    LocalPtr(const LocalPtr &other) noexcept : LocalPtr(other.m_kept) {}
    LocalPtr(LocalPtr &&other) noexcept : m_kept(std::exchange(other.m_kept, nullptr)) {}
    LocalPtr &operator=(LocalPtr other) noexcept
    {
        std::swap(m_kept, other.m_kept);
        return *this;
    }
    ~LocalPtr()
    {
        if (m_kept && --counted().m_holders == 0)
            delete m_kept;
    }

    [[nodiscard]] T *get() const { return m_kept; }
    T *operator->() const { return m_kept; }
    explicit operator bool() const { return m_kept; }

private:
    [[nodiscard]] LocallyCounted &counted() const { return *m_kept; }
    T *m_kept = nullptr;
};

} // namespace lockscope
