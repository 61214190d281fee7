// SPDX-License-Identifier: Apache-2.0
// The loop of a thread that runs a Qt event loop. Create it in that thread (or moveToThread it
// before the first use); destroy it there when the thread's work is done.
#pragma once

#include "core/async/timerqueue.h"

#include <QObject>
#include <QTimer>

namespace lockscope {

class QtLoop : public QObject, public Loop {
    Q_OBJECT
public:
    explicit QtLoop(QObject *parent = nullptr);

    void post(Call call) override;
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, Call call) override;

private:
    void arm();
    void runDue();

    TimerQueue m_timers;
    QTimer m_wakeUp;
};

} // namespace lockscope
