// SPDX-License-Identifier: Apache-2.0
// LocalShared<T>, LocalWeak<T>: std::shared_ptr and std::weak_ptr for what is held on one thread alone, counted in
// plain steps, not in atomic ones.
//
// libstdc++'s own, by the names it has for them: the standard's are the same templates with another policy.
#pragma once

#include "core/async/freelist.h"

#include <memory>
#include <utility>

namespace lockscope {

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
