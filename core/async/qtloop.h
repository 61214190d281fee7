// The loop of a thread that runs a Qt event loop. Create it in that thread (or moveToThread it
// before the first use); destroy it there when the thread's work is done.
//
// What is posted from the thread itself waits in a queue of our own, which is run each time the event loop
// turns: posting through Qt's costs a lock and a wake-up of the thread that is awake, some microseconds for
// every answer of a server.
#pragma once

#include "core/async/fifo.h"
#include "core/async/timerqueue.h"

#include <QObject>
#include <QPointer>
#include <QTimer>

class QAbstractEventDispatcher;

namespace lockscope {

class QtLoop : public QObject, public Loop {
    Q_OBJECT
public:
    explicit QtLoop(QObject *parent = nullptr);
    ~QtLoop() override;

    void post(Call call) override;
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, Call call) override;

private:
    [[nodiscard]] bool isTurning();
    void runPosted();
    void arm();
    void runDue();

    Fifo<Call> m_posted;
    QPointer<QAbstractEventDispatcher> m_dispatcher; // whose turns run what was posted
    TimerQueue m_timers;
    QTimer m_wakeUp;
};

} // namespace lockscope
