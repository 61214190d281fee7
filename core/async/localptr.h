// SPDX-License-Identifier: Apache-2.0
// LocalPtr<T>: shared, and counted in what it points to, on one thread alone. A std::shared_ptr counts as if other
// threads did, too, which takes its time where there are several for each of millions of messages.
#pragma once

#include "core/async/freelist.h"

#include <memory>
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

// LocalShared<T>, LocalWeak<T>: std::shared_ptr and std::weak_ptr for what is held on one thread alone, counted in
// plain steps, not in atomic ones.
//
// libstdc++'s own, by the names it has for them: the standard's are the same templates with another policy.
template <class T>
using LocalShared = std::__shared_ptr<T, __gnu_cxx::_S_single>;
template <class T>
using LocalWeak = std::__weak_ptr<T, __gnu_cxx::_S_single>;
template <class T>
using EnableLocalShared = std::__enable_shared_from_this<T, __gnu_cxx::_S_single>;

template <class T, class... Args>
[[nodiscard]] LocalShared<T> makeLocalShared(Args &&...args)
{
    return std::__allocate_shared<T, __gnu_cxx::_S_single>(freelist::Allocator<T>(), std::forward<Args>(args)...);
}

} // namespace lockscope
