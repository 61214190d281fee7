// SPDX-License-Identifier: Apache-2.0
// One number in a file that only a lock protects, and contenders of ours that add to it.
#pragma once

#include "core/async/sleep.h"
#include "core/recipes/lock.h"

#include <QFile>

namespace lockscope::interop {

using namespace std::chrono_literals;

inline int numberIn(const QString &name)
{
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed().toInt() : -1;
}

inline bool writeNumber(const QString &name, int number)
{
    QFile file(name);
    return file.open(QIODevice::WriteOnly) && file.write(QByteArray::number(number)) > 0;
}

inline Task<void> count(recipes::Lock *lock, Loop *loop, QString file, int rounds, int *failed)
{
    const auto never = Deadline::never();
    for (int i = 0; i < rounds; ++i) {
        const auto grant = co_await lock->acquire(never);
        const int number = numberIn(file);
        auto pause = sleepFor(*loop, 2ms);
        co_await pause;
        const bool written = writeNumber(file, number + 1);
        const auto released = co_await lock->release(never);
        if (!grant || !written || !released)
            ++*failed;
    }
}

} // namespace lockscope::interop
