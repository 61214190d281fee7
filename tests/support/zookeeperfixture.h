// SPDX-License-Identifier: Apache-2.0
// What the tests against a real ZooKeeper share: waiting for a reply, a connection that can be cut.
#pragma once

#include "core/async/qtloop.h"
#include "tests/support/startedserver.h"
#include "core/zookeeper/client.h"
#include "tests/support/cable.h"
#include "tests/support/patience.h"

#include <QEventLoop>
#include <QTest>
#include <QTimer>

namespace lockscope::testing {

inline constexpr std::chrono::milliseconds patience{patienceMs};

// Runs the thread's events until the reply is there; what it says if it never comes.
template <class T>
T await(const Completion<T> &reply, T never, std::chrono::milliseconds atMost = patience)
{
    if (!reply.isComplete()) {
        QEventLoop events;
        QTimer enough; // QTimer::singleShot() would stay behind until it is due, after every single look
        QObject::connect(&enough, &QTimer::timeout, &events, &QEventLoop::quit);
        enough.start(atMost);
        reply.then([&events](const T &) { events.quit(); });
        events.exec();
        reply.dropListener();
    }
    return reply.isComplete() ? reply.value() : never;
}

template <class T>
Result<T> await(const Reply<T> &reply, std::chrono::milliseconds atMost = patience)
{
    return await<Result<T>>(reply, Error{ErrorCode::TimedOut, QStringLiteral("the test waited in vain"), false},
                            atMost);
}

inline bool waitForState(const zk::Session &session, zk::SessionState state)
{
    return QTest::qWaitFor([&] { return session.state() == state; }, static_cast<int>(patience.count()));
}

} // namespace lockscope::testing
