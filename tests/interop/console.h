// SPDX-License-Identifier: Apache-2.0
// What Lockscope has of a Redis, whichever way its servers are deployed.
#pragma once

#include "core/async/qtloop.h"
#include "core/inspect/redis/observer.h"
#include "core/operate/forcereleaseplan.h"
#include "core/operate/gate.h"
#include "core/operate/redis.h"
#include "core/sandbox/server.h"
#include "tests/support/finish.h"
#include "tests/support/keepingsink.h"
#include "tests/support/patience.h"

namespace lockscope::testing {

inline std::vector<HostPort> addressesOf(const std::vector<std::unique_ptr<sandbox::Server>> &servers,
                                         std::size_t from = 0)
{
    std::vector<HostPort> addresses;
    for (std::size_t i = from; i < servers.size(); ++i)
        addresses.push_back(servers[i]->address());
    return addresses;
}

// An observer behind the gate.
struct Console {
    explicit Console(redis::Connection &connection) : gated(operate::gated(connection, gate)) { observer.start(); }
    operate::CommandLog log;
    operate::Gate gate{ConnectionName("r"), false, false, log};
    std::unique_ptr<redis::Connection> gated;
    KeepingSink sink;
    inspect::RedisObserver observer{*gated, ConnectionName("r"), {}, sink};

    // Who is seen to hold it, by what is told; empty: nobody.
    [[nodiscard]] QByteArray holderOf(const QByteArray &lock) const
    {
        const auto *seen = sink.find(lock);
        return seen && seen->holderCount() == 1 ? seen->contenders.front().id : QByteArray();
    }
    // From its holder, by the plan of a force-release; what went wrong.
    [[nodiscard]] QString takeAway(QtLoop &loop, const QByteArray &lock, const QByteArray &holder)
    {
        const auto soon = Deadline::after(loop, std::chrono::milliseconds(patienceMs));
        const auto snapshot = finish(loop, observer.readNow(lock, soon));
        if (!snapshot)
            return snapshot.error().message;
        const auto plan = operate::planForceRelease(*snapshot, holder);
        if (!plan)
            return plan.error().message;
        const auto sent = finish(loop, operate::sendRelease(*plan, {gated.get()}, soon));
        return sent ? QString() : sent.error().message;
    }
};

} // namespace lockscope::testing
