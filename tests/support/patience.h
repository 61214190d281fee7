// SPDX-License-Identifier: Apache-2.0
// How long the tests wait for what must come, and how.
#pragma once

#include "core/async/completion.h"
#include "core/base/result.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>

namespace lockscope::testing {

inline constexpr int patienceMs = 60'000;

// Runs the loop without a pause until this holds. (QTest's own waiting sleeps between looks, which
// would make a long exchange of short messages a hundred times as slow.)
template <class Predicate>
bool eventually(Predicate holds)
{
    const QDeadlineTimer end(patienceMs);
    QTimer wakeUp;
    wakeUp.start(std::chrono::milliseconds(10));
    while (!holds()) {
        if (end.hasExpired())
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return true;
}

// The same for what has to rest between two looks: InnoDB's copy of its locks stays as it is while a client keeps
// reading it.
template <class Predicate>
bool eventuallyAsking(std::chrono::milliseconds every, Predicate holds,
                      std::chrono::milliseconds atMost = std::chrono::milliseconds(patienceMs))
{
    const QDeadlineTimer end(atMost);
    while (!holds()) {
        if (end.hasExpired())
            return false;
        const QDeadlineTimer next(every);
        eventually([&next] { return next.hasExpired(); });
    }
    return true;
}

template <class T>
Result<T> answerOf(const Reply<T> &reply)
{
    if (!eventually([&] { return reply.isComplete(); }))
        return Error{ErrorCode::TimedOut, QStringLiteral("the test waited too long"), false};
    return reply.value();
}

} // namespace lockscope::testing
