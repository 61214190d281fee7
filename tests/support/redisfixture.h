// SPDX-License-Identifier: Apache-2.0
// What the tests of Redis share: a private server, connections to it, and waiting for answers.
#pragma once

#include "core/async/qtloop.h"
#include "core/redis/client.h"
#include "core/sandbox/server.h"

#include <QDeadlineTimer>
#include <QTest>
#include <QTimer>

namespace lockscope::testing {

using namespace std::chrono_literals;

constexpr int patienceMs = 20'000;

inline redis::ConnectionOptions optionsFor(const HostPort &address)
{
    redis::ConnectionOptions options;
    options.host = address;
    return options;
}

// Runs the loop without a pause until this holds. (QTest's own waiting sleeps between looks, which
// would make a long exchange of short messages a hundred times as slow.)
template <class Predicate>
bool eventually(Predicate holds)
{
    const QDeadlineTimer patience(patienceMs);
    QTimer wakeUp;
    wakeUp.start(10ms);
    while (!holds()) {
        if (patience.hasExpired())
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return true;
}

inline bool becomes(const redis::Connection &connection, redis::ConnectionState state)
{
    return eventually([&] { return connection.state() == state; });
}

template <class T>
Result<T> answerOf(const Reply<T> &reply)
{
    if (!eventually([&] { return reply.isComplete(); }))
        return Error{ErrorCode::TimedOut, QStringLiteral("the test waited too long"), false};
    return reply.value();
}

// The value, or an Error value that shows what went wrong in the comparison that follows.
inline redis::Value valueOf(const Reply<redis::Value> &reply)
{
    const auto answer = answerOf(reply);
    if (answer)
        return *answer;
    redis::Value failed;
    failed.kind = redis::Value::Kind::Error;
    failed.text = answer.error().message.toUtf8();
    return failed;
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
