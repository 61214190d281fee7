// SPDX-License-Identifier: Apache-2.0
// Why a ZooKeeper ensemble cannot be reached: the C client never says. Tries a plain TCP connection to
// each host and reports when all of them failed. Loop thread only; never blocks.
#pragma once

#include "core/async/completion.h"
#include "core/base/connectionuri.h"

#include <memory>

namespace lockscope {

class Reachability {
public:
    Reachability(Loop &loop, std::vector<HostPort> hosts);
    ~Reachability();

    // True as soon as one host accepted; NotConnected with every host's reason when all refused or the
    // deadline passed.
    [[nodiscard]] Reply<bool> check(Deadline deadline);

private:
    struct Attempt;
    Loop &m_loop;
    std::vector<HostPort> m_hosts;
    std::shared_ptr<Attempt> m_attempt;
};

} // namespace lockscope
