// SPDX-License-Identifier: Apache-2.0
// The holder's notice on an etcd. Beside the recipe, and not counted as part of it.
#pragma once

#include "core/etcd/client.h"
#include "core/recipes/lock.h"

namespace lockscope::recipes {

// Watches the key of this grant below `lock` until it is removed or the holding releases. The client outlives it.
[[nodiscard]] Task<void> watchOwnKey(etcd::Client *client, QByteArray lock, Holding holding, Grant grant);

} // namespace lockscope::recipes
