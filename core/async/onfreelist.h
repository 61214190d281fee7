// SPDX-License-Identifier: Apache-2.0
// What is made with new comes from the free list: for whatever each of 100,000 contenders has one of.
#pragma once

#include "core/async/freelist.h"

#include <functional>
#include <memory>
#include <unordered_map>

namespace lockscope {

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

} // namespace lockscope
