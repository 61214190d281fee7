// SPDX-License-Identifier: Apache-2.0
// What the link of a ZooKeeper has beside what every link has.
#pragma once

#include "core/workspace/linkbase.h"
#include "core/zookeeper/session.h"

namespace lockscope {

class ZooKeeperPort {
public:
    virtual ~ZooKeeperPort() = default;
    [[nodiscard]] virtual zk::Session &session() = 0; // gated
    // A fresh one for a contender of ours, gated and logged as this link's.
    [[nodiscard]] virtual std::unique_ptr<zk::Session> openSession() = 0;
};
// Null unless of that backend. Gated.
[[nodiscard]] zk::Session *zooKeeperOf(Link *link);

[[nodiscard]] std::unique_ptr<ContenderPool> makeZooKeeperPool(ZooKeeperPort &port,
                                                               const ContenderPoolContext &context);

} // namespace lockscope
