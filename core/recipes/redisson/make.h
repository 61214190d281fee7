// SPDX-License-Identifier: Apache-2.0
// Redisson's recipes by their ids. For core/recipes/redis/make.cpp.
#pragma once

#include "core/base/random.h"
#include "core/recipes/lock.h"
#include "core/redis/connection.h"
#include "core/rules/catalogue.h"

namespace lockscope::recipes::redisson {

// Null for ids of others.
[[nodiscard]] std::unique_ptr<Lock> make(const QByteArray &id, redis::Connection &connection, const RedisKey &lock,
                                         const AcquireOptions &options, Random random);

} // namespace lockscope::recipes::redisson
