// SPDX-License-Identifier: Apache-2.0
// What the tests of Redis share: a private server, connections to it, and waiting for answers.
#pragma once

#include "core/async/qtloop.h"
#include "core/redis/client.h"
#include "tests/support/startedserver.h"
#include "tests/support/patience.h"

#include <QTest>

namespace lockscope::testing {

using namespace std::chrono_literals;

inline redis::ConnectionOptions optionsFor(const HostPort &address)
{
    return redis::ConnectionOptions{.host = address};
}

inline bool becomes(const redis::Connection &connection, redis::ConnectionState state)
{
    return eventually([&] { return connection.state() == state; });
}

// The value, or an Error value that shows what went wrong in the comparison that follows.
inline redis::Value valueOf(const Reply<redis::Value> &reply)
{
    const auto answer = answerOf(reply);
    if (answer)
        return *answer;
    return redis::Value{.kind = redis::Value::Kind::Error, .text = answer.error().message.toUtf8()};
}

template <class T>
int codeOf(const Reply<T> &reply)
{
    const auto answer = answerOf(reply);
    return answer ? -1 : static_cast<int>(answer.error().code);
}

constexpr int code(ErrorCode wanted)
{
    return static_cast<int>(wanted);
}

} // namespace lockscope::testing
