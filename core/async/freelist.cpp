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
    std::size_t bytes = 0;
};
struct Kept {
    std::array<FreeList, largest / step + 1> lists;
    std::size_t atMost = keeps ? mostKeptBytes : 0; // of each size
    bool isWatched = false;                         // somebody clears up when the thread ends
};
// No constructor and no destructor: nothing has to be asked before it is used, at whatever end of the thread.
constinit thread_local Kept kept;

// Gives everything back when the thread ends; after that nothing is kept.
struct Clearing {
    Clearing() = default;
    ~Clearing()
    {
        kept.atMost = 0;
        for (auto &list : kept.lists) {
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

// The first block of a thread makes sure that there is somebody to clear up.
void watch()
{
    kept.isWatched = true;
    static thread_local Clearing clearing;
    (void)&clearing;
}

} // namespace

void *take(std::size_t bytes)
{
    if (!keeps || bytes > largest)
        return ::operator new(bytes);
    const auto number = listFor(bytes);
    auto &list = kept.lists[number];
    auto *const block = list.first;
    if (!block)
        return ::operator new(sizeOn(number));
    list.first = block->next;
    list.bytes -= sizeOn(number);
    return block;
}

void give(void *block, std::size_t bytes) noexcept
{
    const auto number = listFor(bytes);
    auto &mine = kept;
    if (bytes > largest || mine.lists[number].bytes >= mine.atMost) {
        ::operator delete(block);
        return;
    }
    if (!mine.isWatched)
        watch();
    auto &list = mine.lists[number];
    list.first = new (block) Free{list.first};
    list.bytes += sizeOn(number);
}

std::size_t keptBytes() noexcept
{
    std::size_t bytes = 0;
    for (const auto &list : kept.lists)
        bytes += list.bytes;
    return bytes;
}

} // namespace lockscope::freelist
