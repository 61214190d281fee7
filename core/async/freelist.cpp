// SPDX-License-Identifier: Apache-2.0
#include "core/async/freelist.h"

#include <atomic>

#include <sys/mman.h>

namespace lockscope::freelist {

using namespace detail;

namespace {

constexpr std::size_t mostKeptBytes = 512 * 1024; // of each size

// Where the arena is, of which there is one at a time: addresses for as many as may be simulated. Reserved once, and
// for good, so that its blocks are known everywhere.
constexpr std::size_t arenaBytes = std::size_t(1) << 30, hugePage = std::size_t(2) << 20;
std::atomic<std::byte *> arenaBegin = nullptr;
std::atomic<bool> isArenaInUse = false;

bool isOfArena(const void *block)
{
    auto *const begin = arenaBegin.load(std::memory_order_relaxed);
    return begin && reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(begin) < arenaBytes;
}

void giveToSystem(void *block)
{
    if (!isOfArena(block))
        ::operator delete(block);
}

void clear(FreeList &list)
{
    while (list.first) {
        auto *const block = list.first;
        list.first = block->next;
        giveToSystem(block);
    }
    list = {};
}

// Gives everything back when the thread ends; after that nothing is kept.
struct Clearing {
    Clearing() = default;
    ~Clearing()
    {
        kept.hasEnded = true;
        for (auto &list : kept.lists)
            clear(list);
    }
    Clearing(const Clearing &) = delete;
    Clearing &operator=(const Clearing &) = delete;
};

constexpr std::size_t sizeOn(std::size_t list)
{
    return list * step + 8;
}

} // namespace

constinit thread_local detail::Kept detail::kept;

void *detail::allocate(std::size_t bytes)
{
    if (bytes > largest)
        return ::operator new(bytes);
    const auto size = sizeOn(listFor(bytes));
    if (!kept.arena || !kept.mayKeep(kept.arena + size))
        return ::operator new(size);
    // As far apart as the system's.
    ++kept.made;
    return std::exchange(kept.arena, kept.arena + size + sizeof(void *));
}

void detail::giveBack(void *block, std::size_t bytes) noexcept
{
    if (bytes > largest || kept.hasEnded || kept.lists[listFor(bytes)].atMost > 0) {
        giveToSystem(block);
        return;
    }
    // The first block of a thread makes sure that there is somebody to clear up.
    static thread_local Clearing clearing;
    (void)&clearing;
    auto &list = kept.lists[listFor(bytes)];
    const auto size = sizeOn(listFor(bytes));
    list.atMost = (mostKeptBytes + size - 1) / size;
    list.keep(block);
}

Arena::Arena()
{
    if (!keeps || isArenaInUse.exchange(true))
        return;
    auto *begin = arenaBegin.load();
    if (!begin) {
        auto *const all = ::mmap(nullptr, arenaBytes + hugePage, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED)
            return;
        const auto past = reinterpret_cast<std::uintptr_t>(all) % hugePage;
        begin = static_cast<std::byte *>(all) + (past == 0 ? 0 : hugePage - past);
        ::madvise(begin, arenaBytes, MADV_HUGEPAGE); // where there are none, it goes without
        arenaBegin.store(begin);
    }
    for (auto &list : kept.lists) {
        clear(list);
        list.atMost = std::numeric_limits<std::size_t>::max();
    }
    kept.from = reinterpret_cast<std::uintptr_t>(begin);
    kept.bytes = arenaBytes;
    kept.arena = begin;
    kept.made = 0;
    m_isOurs = true;
}

Arena::~Arena()
{
    if (!m_isOurs)
        return;
    std::size_t back = 0;
    for (auto &list : kept.lists) {
        back += list.count;
        list = {};
    }
    auto *const begin = arenaBegin.load();
    const auto used = static_cast<std::size_t>(std::exchange(kept.arena, nullptr) - begin);
    kept.from = 0;
    kept.bytes = std::numeric_limits<std::uintptr_t>::max();
    if (back != kept.made)
        return;
    ::madvise(begin, used, MADV_DONTNEED);
    isArenaInUse.store(false);
}

std::size_t keptBytes() noexcept
{
    std::size_t bytes = 0;
    for (std::size_t list = 0; list < kept.lists.size(); ++list)
        bytes += kept.lists[list].count * sizeOn(list);
    return bytes;
}

} // namespace lockscope::freelist
