// SPDX-License-Identifier: Apache-2.0
// Memory for what lives shortly and comes again and again, of a few sizes: the frames of coroutines, the states of
// completions, what a loop has queued. Each thread keeps some of what was given back, the last one first, which is
// still in the cache; a block may be given back on another thread than it was taken on.
//
// Under a sanitizer every block comes from the system, so that it sees who uses one too late.
#pragma once

#include <version>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

namespace lockscope::freelist {

namespace detail {

#ifdef LOCKSCOPE_SANITIZED
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

// What the system's allocator hands out without waste: its own eight bytes make it a multiple of sixteen.
constexpr std::size_t step = 16, largest = 4096 + 8;
constexpr std::size_t listFor(std::size_t bytes)
{
    return (bytes + 7) / step;
}

struct Free {
    Free *next = nullptr;
};
struct FreeList {
    Free *first = nullptr;
    std::size_t count = 0;
    std::size_t atMost = 0; // none until the first block comes, and when the thread ends
    void keep(void *block)
    {
        first = new (block) Free{first};
        ++count;
    }
};
struct Kept {
    std::array<FreeList, largest / step + 1> lists;
    bool hasEnded = !keeps;
    // What is not of these addresses is not kept: with an arena, only what is of it.
    std::uintptr_t from = 0, bytes = std::numeric_limits<std::uintptr_t>::max();
    std::byte *arena = nullptr; // its next block
    std::size_t made = 0;       // of its blocks
    [[nodiscard]] bool mayKeep(const void *block) const
    {
        return reinterpret_cast<std::uintptr_t>(block) - from < bytes;
    }
};
// No constructor and no destructor: nothing has to be asked before it is used, at whatever end of the thread.
extern constinit thread_local Kept kept;

// Where nothing is kept of that size, and where it may not be.
[[nodiscard]] void *allocate(std::size_t bytes);
void giveBack(void *block, std::size_t bytes) noexcept;

} // namespace detail

// Both here, and what is rare elsewhere: sixteen of each for a message of a simulated world and its answer, of sizes
// that the compiler knows.
[[nodiscard]] inline void *take(std::size_t bytes)
{
    using namespace detail;
    if (!keeps || bytes > largest)
        return allocate(bytes);
    auto &list = kept.lists[listFor(bytes)];
    auto *const block = list.first;
    if (!block)
        return allocate(bytes);
    list.first = block->next;
    // Fetched until the next take: where thousands are out and come back, it may have left the cache.
    __builtin_prefetch(list.first, 1);
    --list.count;
    return block;
}

// `bytes` as it was taken.
inline void give(void *block, std::size_t bytes) noexcept
{
    using namespace detail;
    if (bytes > largest) {
        giveBack(block, bytes);
        return;
    }
    auto &list = kept.lists[listFor(bytes)];
    if (list.count < list.atMost && kept.mayKeep(block))
        list.keep(block);
    else
        giveBack(block, bytes);
}

// What this thread keeps for the next take, in bytes: to whoever measures the heap it looks as if it was used.
[[nodiscard]] std::size_t keptBytes() noexcept;

// For std::allocate_shared and containers.
template <class T>
struct Allocator {
    using value_type = T;
    Allocator() = default;
    template <class U>
    Allocator(const Allocator<U> &)
    {
    }
    [[nodiscard]] T *allocate(std::size_t count) { return static_cast<T *>(take(count * sizeof(T))); }
    void deallocate(T *block, std::size_t count) noexcept { give(block, count * sizeof(T)); }
    friend bool operator==(const Allocator &, const Allocator &) { return true; }
};

// Memory for a crowd, of which each has its few kilobytes in many blocks: while an Arena lives, the blocks that the
// free list has not come from one piece of memory, in huge pages where the system has them, and it goes back to the
// system as a whole with the Arena. Of the time of 100,000 simulated contenders a fifth went by in the system's
// allocator, and a seventh was saved by huge pages.
//
// One at a time in a program; another one meanwhile, one that finds no memory, or one under a sanitizer does nothing.
// A block that is given back later, or on another thread, stays whole: the piece then stays for good, and no Arena
// comes after it.
class Arena {
public:
    Arena();
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

private:
    bool m_isOurs = false;
};

} // namespace lockscope::freelist

namespace lockscope {

// What is made with new comes from the free list: for whatever each of 100,000 contenders has one of.
struct OnFreeList {
    static void *operator new(std::size_t bytes) { return freelist::take(bytes); }
    static void operator delete(void *block, std::size_t bytes) noexcept { freelist::give(block, bytes); }
};

namespace freelist {

template <class T, class... Args>
[[nodiscard]] std::shared_ptr<T> makeShared(Args &&...args)
{
    return std::allocate_shared<T>(Allocator<T>(), std::forward<Args>(args)...);
}

template <class Key, class Value>
using UnorderedMap =
    std::unordered_map<Key, Value, std::hash<Key>, std::equal_to<Key>, Allocator<std::pair<const Key, Value>>>;

} // namespace freelist

// Slot<T>: the place of a value that comes later, once. Neither copied nor moved itself.
//
// Instead of std::optional, whose layers the compiler builds anew for each of the hundreds of types that coroutines
// answer with.
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

// LocalPtr<T>: shared, and counted in what it points to, on one thread alone. A std::shared_ptr counts as if other
// threads did, too, which takes its time where there are several for each of millions of messages.
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
