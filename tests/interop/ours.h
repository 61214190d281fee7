// SPDX-License-Identifier: Apache-2.0
// One contender of ours beside other people's.
#pragma once

#include "core/zookeeper/session.h"
#include "tests/support/contender.h"

namespace lockscope::interop {

using namespace std::chrono_literals;

// Where its lock lives: none for Redis, whose contenders share a connection.
struct WithSession {
    std::unique_ptr<zk::Session> session;
};

class Ours : WithSession, public testing::Contender {
public:
    Ours(std::unique_ptr<zk::Session> its, std::unique_ptr<recipes::Lock> made, Loop &loop)
        : WithSession{std::move(its)}, Contender(loop, std::move(made))
    {
    }
    [[nodiscard]] bool holds() const { return Contender::holds() && !released; }
};

} // namespace lockscope::interop
