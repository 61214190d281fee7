// SPDX-License-Identifier: Apache-2.0
// Sessions on a real ZooKeeper behind ports that count and fail, and contenders that use them.
#pragma once

#include "core/recipes/make.h"
#include "tests/support/zookeeperfixture.h"
#include "tests/support/contender.h"
#include "tests/support/countingsession.h"
#include "tests/support/faultysession.h"

namespace lockscope::testing {

// A session with its ports; several contenders may share one.
struct Client {
    Client(Loop &loop, const HostPort &server, std::chrono::milliseconds timeout = std::chrono::seconds(10))
    {
        real = zk::openSession(loop, {.hosts = {server}, .timeout = timeout});
        faulty = std::make_unique<testing::FaultySession>(*real);
        counting = std::make_unique<testing::CountingSession>(*faulty);
    }

    std::unique_ptr<zk::Session> real;
    std::unique_ptr<testing::FaultySession> faulty;
    std::unique_ptr<testing::CountingSession> counting;
};

inline std::unique_ptr<Contender> contenderWith(Client &client, const QByteArray &recipe, const ZPath &path,
                                                quint64 seed, const recipes::AcquireOptions &options = {})
{
    auto made = recipes::makeLock(recipe, *client.counting, path, options, Random(seed));
    if (!made)
        qFatal("%s", qPrintable(made.error().message));
    return std::make_unique<Contender>(client.real->loop(), std::move(*made));
}

} // namespace lockscope::testing
