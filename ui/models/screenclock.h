// SPDX-License-Identifier: Apache-2.0
// The one clock of the screen. Its present goes on in ticks, all views count by it and are told of each tick, so that
// two numbers on the screen are never of two moments, whenever each was painted. GUI thread only.
#pragma once

#include "core/base/clock.h"

#include <QDateTime>
#include <QTimer>

namespace lockscope::ui {

class ScreenClock : public QObject {
    Q_OBJECT
public:
    using Time = std::chrono::system_clock::time_point;
    using Steady = std::chrono::steady_clock::time_point;
    using Source = std::function<Time()>;

    explicit ScreenClock(QObject *parent = nullptr);

    // The moment that is on the screen: the last tick's.
    [[nodiscard]] Time now() const { return m_now; }
    [[nodiscard]] Steady steadyNow() const { return m_steady; }
    // What it really is, paused or not.
    [[nodiscard]] Time present() const { return m_source(); }
    // For tests and pictures: a present that stands still, or goes where it is told.
    void setSource(Source source);

    // Frozen it does not tick.
    void setFrozen(bool frozen);
    [[nodiscard]] bool isFrozen() const { return m_isFrozen; }
    // Where it stands while frozen, wherever else is looked at.
    [[nodiscard]] Time pausedAt() const { return m_isElsewhere ? m_before : m_now; }
    // Stands at another moment than the present, until told to go on: another time is looked at.
    void standAt(std::optional<Time> moment);
    [[nodiscard]] bool isElsewhere() const { return m_isElsewhere; }
    // News is about to be shown, whose moments must not lie ahead of the screen's.
    void catchUp();

signals:
    void ticked();
    // Somebody set the machine's wall clock. No age changes; every time of day that is shown does.
    void wallSet(const lockscope::ClockJump &jump);

private:
    void lookAndTick();
    void tick();

    Source m_source = [] { return programClock().now(); };
    Time m_now;
    Time m_before; // where it was frozen before it stood elsewhere
    Steady m_steady;
    bool m_isFrozen = false;
    bool m_isElsewhere = false;
    QTimer m_timer;
};

// What is shown is of a file, perhaps of another machine: its moments are as that machine's clock had them.
void setShowsFile(bool isOfFile);
// What the wall clock was set by since: nothing, of what a file recorded.
[[nodiscard]] std::chrono::milliseconds wallSetBy();
// A moment of the screen's as people read it off the machine's wall clock, in local time; of a file, as recorded.
[[nodiscard]] QDateTime timeOfDay(ScreenClock::Time moment);

} // namespace lockscope::ui
