// SPDX-License-Identifier: Apache-2.0
// An application that knows how long its GUI thread was busy in each turn: a frame at 60 Hz is 16 ms, and a turn
// beyond that is named.
#pragma once

#include "tests/bench/report.h"

#include <QApplication>
#include <QThread>

#include <ctime>
#include <functional>

namespace lockscope::bench {

// What this thread has computed so far: the wall clock would count the turns of other programs, too.
inline qint64 busyNanoseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return qint64(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Measures every delivery of an event: what keeps the GUI thread from painting the next frame.
class MeteredApplication : public QApplication {
public:
    using QApplication::QApplication;

    bool notify(QObject *receiver, QEvent *event) override
    {
        if (QThread::currentThread() != thread()) // deliveries of other threads come here, too
            return QApplication::notify(receiver, event);
        if (m_depth++ > 0) {
            const bool nested = QApplication::notify(receiver, event);
            --m_depth;
            return nested;
        }
        const auto *whose = receiver->metaObject(); // who is told of may end with it
        const qint64 began = busyNanoseconds();
        const bool done = QApplication::notify(receiver, event);
        const qint64 took = busyNanoseconds() - began;
        if (took > 16'000'000)
            qInfo("%.1f ms: %s event %d", double(took) / 1e6, whose->className(), int(event->type()));
        m_turns.add(took);
        --m_depth;
        return done;
    }

    // The test itself runs inside one delivery: what happens in its waits counts as turns of its own.
    Medians during(const std::function<void()> &what)
    {
        const int depth = std::exchange(m_depth, 0);
        m_turns = {};
        what();
        m_depth = depth;
        return std::exchange(m_turns, {});
    }

private:
    int m_depth = 0;
    Medians m_turns;
};

inline MeteredApplication &metered()
{
    return *static_cast<MeteredApplication *>(QCoreApplication::instance());
}

} // namespace lockscope::bench
