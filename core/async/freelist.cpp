// SPDX-License-Identifier: Apache-2.0
#include "core/async/freelist.h"

#include <array>

namespace lockscope::freelist {

namespace {

#ifdef LOCKSCOPE_SANITIZED
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

// What the system's allocator hands out without waste: its own eight bytes make it a multiple of sixteen.
constexpr std::size_t step = 16, largest = 4096 + 8;
constexpr std::size_t mostKeptBytes = 512 * 1024; // of each size

struct Free {
    Free *next = nullptr;
};
struct FreeList {
    Free *first = nullptr;
    std::size_t count = 0;
    std::size_t atMost = 0; // none until the first block comes, and when the thread ends
};
struct Kept {
    std::array<FreeList, largest / step + 1> lists;
    bool hasEnded = !keeps;
};
// No constructor and no destructor: nothing has to be asked before it is used, at whatever end of the thread.
constinit thread_local Kept kept;

// Gives everything back when the thread ends; after that nothing is kept.
struct Clearing {
    Clearing() = default;
    ~Clearing()
    {
        kept.hasEnded = true;
        for (auto &list : kept.lists) {
            list.atMost = 0;
            while (list.first) {
                auto *const block = list.first;
                list.first = block->next;
                ::operator delete(block);
            }
        }
    }
    Clearing(const Clearing &) = delete;
    Clearing &operator=(const Clearing &) = delete;
};

constexpr std::size_t listFor(std::size_t bytes)
{
    return (bytes + 7) / step;
}

constexpr std::size_t sizeOn(std::size_t list)
{
    return list * step + 8;
}

void keep(FreeList &list, void *block)
{
    list.first = new (block) Free{list.first};
    ++list.count;
}

// What is rare has functions of its own, so that the two below, a tenth of a simulation, need no room on the stack.
[[gnu::noinline]] void *allocate(std::size_t bytes)
{
    return ::operator new(bytes > largest ? bytes : sizeOn(listFor(bytes)));
}

[[gnu::noinline]] void giveBack(void *block, std::size_t bytes) noexcept
{
    if (bytes > largest || kept.hasEnded || kept.lists[listFor(bytes)].atMost > 0) {
        ::operator delete(block);
        return;
    }
    // The first block of a thread makes sure that there is somebody to clear up.
    static thread_local Clearing clearing;
    (void)&clearing;
    auto &list = kept.lists[listFor(bytes)];
    const auto size = sizeOn(listFor(bytes));
    list.atMost = (mostKeptBytes + size - 1) / size;
    keep(list, block);
}

} // namespace

void *take(std::size_t bytes)
{
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

void give(void *block, std::size_t bytes) noexcept
{
    if (bytes > largest) {
        giveBack(block, bytes);
        return;
    }
    auto &list = kept.lists[listFor(bytes)];
    if (list.count < list.atMost)
        keep(list, block);
    else
        giveBack(block, bytes);
}

std::size_t keptBytes() noexcept
{
    std::size_t bytes = 0;
    for (std::size_t list = 0; list < kept.lists.size(); ++list)
        bytes += kept.lists[list].count * sizeOn(list);
    return bytes;
}

} // namespace lockscope::freelist
