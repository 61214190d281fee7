// SPDX-License-Identifier: Apache-2.0
// Held locks on Redis, as they are seen: what the tests of the release's plan plan with.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::testing {

inline inspect::LockSnapshot redisLock(const QByteArray &recipe, const QByteArray &value)
{
    inspect::LockSnapshot snapshot{.lock = inspect::LockName{ConnectionName("redis"), "orders-lock"},
                                   .backend = BackendKind::Redis,
                                   .confidence = inspect::Confidence::High,
                                   .state = inspect::LockState::Held,
                                   .waitersKnown = false,
                                   .recipe = recipe};
    inspect::Contender holder{.id = value, .role = inspect::Role::Holder};
    holder.guard.value = value;
    snapshot.contenders = {holder};
    return snapshot;
}

// The token on all three nodes of a set, or on one.
inline inspect::LockSnapshot onSet(inspect::Role role)
{
    auto snapshot = redisLock("redlock", "token");
    snapshot.contenders[0].role = role;
    for (const auto *node : {"n1:6379", "n2:6379", "n3:6379"})
        snapshot.nodes.push_back({QString::fromLatin1(node), true, QByteArray("token"), {}});
    if (role != inspect::Role::Holder)
        snapshot.nodes[1].value = snapshot.nodes[2].value = {};
    return snapshot;
}

} // namespace lockscope::testing
