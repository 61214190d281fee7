// SPDX-License-Identifier: Apache-2.0
// A lock whose release is planned and sent: Curator's queue of one holder and two waiters.
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::testing::releases {

using namespace inspect;

inline constexpr qint64 headCzxid = 0x5f21;
inline constexpr quint64 headOwner = 0x2000009b4890007;

inline QByteArray nodeName(int n)
{
    return "_c_0e7d6b1a-7c8e-4b6e-9a3e-2f5d1c4b3a2" + QByteArray::number(n) + "-lock-000000004"
           + QByteArray::number(n);
}

inline Contender contender(int n)
{
    Contender c;
    c.id = nodeName(n);
    c.role = n == 0 ? Role::Holder : Role::Waiter;
    c.position = n;
    c.guard = inspect::ZnodeIdentity{
        .path = "/locks/orders/" + c.id, .czxid = headCzxid + n, .owner = headOwner + static_cast<quint64>(n)};
    if (n > 0)
        c.watches = {WatchEdge{nodeName(n - 1), false, Evidence::Server}};
    return c;
}

// Curator's queue: one holder, two waiters.
inline LockSnapshot queue()
{
    return LockSnapshot{.lock = LockName{ConnectionName("zk"), "/locks/orders"},
                        .confidence = Confidence::High,
                        .state = LockState::Contended,
                        .recipe = "curator-mutex",
                        .contenders = {contender(0), contender(1), contender(2)}};
}

} // namespace lockscope::testing::releases
