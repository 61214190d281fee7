// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to a lock of that recipe: etcd.
#pragma once

#include "core/async/scope.h"
#include "core/base/random.h"
#include "core/etcd/client.h"
#include "core/recipes/lock.h"
#include "core/recipes/lockbase.h"
#include "core/rules/catalogue.h"

namespace lockscope::recipes {

// As those of make.h. The client outlives the lock.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, etcd::Client &client,
                                                     const QByteArray &lock, const AcquireOptions &options,
                                                     Random random);

} // namespace lockscope::recipes
