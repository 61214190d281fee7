// SPDX-License-Identifier: Apache-2.0
// Makes chosen requests of a ZooKeeper session go wrong: the n-th of a kind from now on.
#pragma once

#include "tests/support/sessiondecorator.h"

#include <map>

namespace lockscope::testing {

class FaultySession : public SessionDecorator {
public:
    using SessionDecorator::SessionDecorator;

    // 1 is the next one.
    void plan(RequestKind kind, int nth, RequestFault fate) { m_plans[kind].push_back({nth, fate}); }

protected:
    RequestFault fateOf(RequestKind kind) override
    {
        RequestFault fate = RequestFault::Pass;
        for (auto &[left, planned] : m_plans[kind]) {
            if (--left == 0)
                fate = planned;
        }
        return fate;
    }

private:
    std::map<RequestKind, std::vector<std::pair<int, RequestFault>>> m_plans;
};

} // namespace lockscope::testing
