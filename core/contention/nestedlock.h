// SPDX-License-Identifier: Apache-2.0
// One lock that is taken several times by the same contender, one inside the other.
#pragma once

#include "core/recipes/multilock.h"

namespace lockscope::contention {

// Of a reentrant recipe it is the same lock each time; of another one each is a lock of its own, as a second object
// in the same thread would be: it waits for the first. `make` is called at once.
[[nodiscard]] Result<std::unique_ptr<recipes::MultiLock>> nestedLock(
    Loop &loop, int times, bool isReentrant, const std::function<Result<std::unique_ptr<recipes::Lock>>()> &make);

} // namespace lockscope::contention
