// SPDX-License-Identifier: Apache-2.0
// Memory for what lives shortly and comes again and again, of a few sizes: the frames of coroutines, the states of
// completions, what a loop has queued. Each thread keeps some of what was given back, the last one first, which is
// still in the cache; a block may be given back on another thread than it was taken on.
//
// Under a sanitizer every block comes from the system, so that it sees who uses one too late.
#pragma once

#include <version>

#include <cstddef>
#include <new>

namespace lockscope::freelist {

[[nodiscard]] void *take(std::size_t bytes);
// `bytes` as it was taken.
void give(void *block, std::size_t bytes) noexcept;
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

} // namespace lockscope::freelist
