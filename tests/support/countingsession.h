// SPDX-License-Identifier: Apache-2.0
// Counts what goes through a ZooKeeper session: requests by kind, round trips, watch events delivered.
#pragma once

#include "tests/support/sessiondecorator.h"

#include <map>

namespace lockscope::testing {

class CountingSession : public SessionDecorator {
public:
    using SessionDecorator::SessionDecorator;

    void reset();
    [[nodiscard]] int requests() const;
    [[nodiscard]] int count(RequestKind kind) const;
    // Times a request was sent while none was out: requests sent together share a round trip.
    [[nodiscard]] int roundTrips() const { return m_roundTrips; }
    [[nodiscard]] int events() const { return m_events; }
    [[nodiscard]] bool isIdle() const { return out() == 0; }
    // "create 1, children 2, get 1": for comparisons that tell what differs.
    [[nodiscard]] QByteArray spoken() const;

protected:
    RequestFault fateOf(RequestKind kind) override;
    void fired(const zk::WatchEvent &event) override;

private:
    std::map<RequestKind, int> m_counts;
    int m_roundTrips = 0;
    int m_events = 0;
};

} // namespace lockscope::testing
