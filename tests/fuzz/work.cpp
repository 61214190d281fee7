// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/work.h"

#include <array>
#include <cstdlib>
#include <malloc.h>

// What the compiler calls in each block of what is traced (-fsanitize-coverage=trace-pc).
extern "C" void __sanitizer_cov_trace_pc();

#ifdef LOCKSCOPE_ADDRESS_SANITIZER
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*came)(const volatile void *, size_t),
                                                         void (*went)(const volatile void *));
extern "C" size_t __sanitizer_get_allocated_size(const volatile void *memory);
#else
extern "C" void *__libc_malloc(size_t size);
extern "C" void *__libc_calloc(size_t count, size_t size);
extern "C" void *__libc_realloc(void *memory, size_t size);
extern "C" void __libc_free(void *memory);
#endif

namespace lockscope::fuzz {

namespace {

struct Counted {
    bool isOn = false;
    bool isNew = false;
    quint64 blocks = 0, allocations = 0;
    qint64 bytes = 0, peakBytes = 0;
    quint64 mostBlocks = 0, mostAllocations = 0;
    qint64 mostBytes = 0;
    const char *tooMuch = nullptr;
    quint64 places = 0;
};
Counted counted;
// Places in the code by their address, coarsely: two that share a slot count as one.
std::array<bool, 1 << 18> reached{};

void stop(const char *what)
{
    counted.isOn = false;
    counted.tooMuch = what;
    std::abort();
}

void came(size_t size)
{
    if (!counted.isOn)
        return;
    counted.bytes += static_cast<qint64>(size);
    counted.peakBytes = std::max(counted.peakBytes, counted.bytes);
    if (++counted.allocations > counted.mostAllocations)
        stop("more allocations than this many bytes of input may cost");
    if (counted.peakBytes > counted.mostBytes)
        stop("more memory than this many bytes of input may cost");
}

void went(size_t size)
{
    if (counted.isOn)
        counted.bytes -= static_cast<qint64>(size);
}

} // namespace

void prepareCounting()
{
#ifdef LOCKSCOPE_ADDRESS_SANITIZER
    __sanitizer_install_malloc_and_free_hooks([](const volatile void *, size_t size) { came(size); },
                                              [](const volatile void *memory) {
                                                  if (memory)
                                                      went(__sanitizer_get_allocated_size(memory));
                                              });
#endif
}

void beginCounting(const Limits &limits, qsizetype inputSize)
{
    const auto size = static_cast<quint64>(inputSize);
    const auto places = counted.places;
    counted = {};
    counted.places = places;
    counted.mostBlocks = limits.blocks + limits.blocksPerByte * size;
    counted.mostAllocations = limits.allocations + limits.allocationsPerByte * size;
    counted.mostBytes = static_cast<qint64>(limits.memory + limits.memoryPerByte * size);
    counted.isOn = true;
}

Work endCounting()
{
    counted.isOn = false;
    return {counted.blocks, counted.allocations, static_cast<quint64>(counted.peakBytes), counted.isNew};
}

const char *whatWasTooMuch()
{
    return counted.tooMuch;
}

quint64 placesReached()
{
    return counted.places;
}

} // namespace lockscope::fuzz

using namespace lockscope::fuzz;

void __sanitizer_cov_trace_pc()
{
    if (!counted.isOn)
        return;
    // From a place of this program, so that the same build counts the same wherever it is loaded.
    const auto place = reinterpret_cast<quintptr>(__builtin_return_address(0)) - reinterpret_cast<quintptr>(&stop);
    auto &slot = reached[(place ^ (place >> 18)) % reached.size()];
    if (!slot) {
        slot = true;
        counted.isNew = true;
        ++counted.places;
    }
    if (++counted.blocks > counted.mostBlocks)
        stop("more work than this many bytes of input may cost");
}

#ifndef LOCKSCOPE_ADDRESS_SANITIZER
extern "C" void *malloc(size_t size)
{
    auto *memory = __libc_malloc(size);
    came(memory ? malloc_usable_size(memory) : 0);
    return memory;
}
extern "C" void *calloc(size_t count, size_t size)
{
    auto *memory = __libc_calloc(count, size);
    came(memory ? malloc_usable_size(memory) : 0);
    return memory;
}
extern "C" void *realloc(void *memory, size_t size)
{
    went(memory ? malloc_usable_size(memory) : 0);
    auto *moved = __libc_realloc(memory, size);
    came(moved ? malloc_usable_size(moved) : 0);
    return moved;
}
extern "C" void free(void *memory)
{
    went(memory ? malloc_usable_size(memory) : 0);
    __libc_free(memory);
}
#endif
