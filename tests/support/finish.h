// SPDX-License-Identifier: Apache-2.0
// A task as a function: the events run until it has ended.
#pragma once

#include "core/async/scope.h"
#include "core/base/result.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>

#include <optional>

namespace lockscope::testing {

template <class T>
Task<void> keepResult(Task<T> task, std::optional<T> *result)
{
    auto got = co_await task;
    result->emplace(std::move(got));
}

// Its result, or an error if it takes too long.
template <class T>
Result<T> finish(Loop &loop, Task<Result<T>> task)
{
    std::optional<Result<T>> result;
    Scope scope(loop);
    scope.launch(keepResult(std::move(task), &result));
    // No pauses between looks, as QTest's own waiting makes: some race with what happens meanwhile.
    const QDeadlineTimer enough(20'000);
    QTimer wakeUp;
    wakeUp.start(std::chrono::milliseconds(50));
    while (!result) {
        if (enough.hasExpired())
            return Error{ErrorCode::TimedOut, QStringLiteral("the test waited in vain"), false};
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return *result;
}

} // namespace lockscope::testing
