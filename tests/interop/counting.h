// SPDX-License-Identifier: Apache-2.0
// One number in a file that only a lock protects, and contenders of ours and of others that add to it.
#pragma once

#include "core/async/scope.h"
#include "core/async/completion.h"
#include "tests/interop/foreignclients.h"
#include "tests/interop/ours.h"

#include <QEventLoop>
#include <QTimer>

#include <algorithm>

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

// Several of ours, and several of theirs in programs of their own, add to the number in the file. `what`: of the
// command of one of theirs, all between its name and the file. What went wrong; empty if nothing was lost.
inline QByteArray countTogether(const std::vector<std::unique_ptr<ForeignClient>> &programs, const QByteArray &what,
                                const std::vector<Ours *> &us, Loop &loop, const QString &file)
{
    constexpr int rounds = 8, theirContenders = 2, patienceMs = 120'000;
    if (!writeNumber(file, 0))
        return "no file";
    int failed = 0;
    Scope scope(loop);
    for (auto *one : us)
        scope.launch(count(one->lock.get(), &loop, file, rounds, &failed));
    static int names = 0; // their programs serve several locks
    QByteArrayList them;
    for (int i = 0; i < theirContenders; ++i) {
        them << 'c' + QByteArray::number(++names);
        for (const auto &program : programs)
            program->tell("count " + them.last() + ' ' + what + ' ' + file.toUtf8() + ' '
                          + QByteArray::number(rounds));
    }
    const auto haveCounted = [&](const std::unique_ptr<ForeignClient> &program) {
        return std::ranges::all_of(them, [&](const QByteArray &name) { return program->hasSaid("counted " + name); });
    };
    // No pauses between looks, as QTest's own waiting makes: our contenders are in this thread.
    QEventLoop events;
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &events, [&] {
        if (scope.isIdle() && std::ranges::all_of(programs, haveCounted))
            events.quit();
    });
    look.start(20ms);
    QTimer::singleShot(patienceMs, &events, &QEventLoop::quit);
    events.exec();
    for (const auto &program : programs) {
        if (!haveCounted(program))
            return "theirs did not end: " + program->everythingSaid();
    }
    const int all = rounds * (int(us.size()) + theirContenders * int(programs.size()));
    if (scope.isIdle() && failed == 0 && numberIn(file) == all)
        return {};
    return QByteArray::number(numberIn(file)) + " instead of " + QByteArray::number(all) + ", "
           + QByteArray::number(failed) + " of ours failed" + (scope.isIdle() ? "" : ", ours did not end");
}

} // namespace lockscope::interop
