// SPDX-License-Identifier: Apache-2.0
#include "core/async/qtloop.h"

namespace lockscope {

QtLoop::QtLoop(QObject *parent) : QObject(parent), m_wakeUp(this)
{
    m_wakeUp.setSingleShot(true);
    m_wakeUp.setTimerType(Qt::PreciseTimer);
    connect(&m_wakeUp, &QTimer::timeout, this, &QtLoop::runDue);
}

void QtLoop::post(Call call)
{
    // Qt lets go of its object on this thread, maybe after the call: by then nothing is to be in it any more.
    auto run = [call = std::move(call)]() mutable {
        auto taken = std::move(call);
        taken();
    };
    QMetaObject::invokeMethod(this, std::move(run), Qt::QueuedConnection);
}

Instant QtLoop::now() const
{
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

std::chrono::system_clock::time_point QtLoop::wallNow() const
{
    return std::chrono::system_clock::now();
}

Timer QtLoop::callAt(Instant when, Call call)
{
    const auto before = m_timers.next();
    auto timer = m_timers.add(when, std::move(call));
    if (!before || when < *before)
        arm();
    return timer;
}

void QtLoop::arm()
{
    const auto next = m_timers.next();
    if (!next)
        return;
    // Rounded up: waking early would only mean waking twice. Qt takes 24 days at most, for its interval is an int.
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - now());
    constexpr std::chrono::milliseconds longest = std::chrono::hours(24);
    m_wakeUp.start(std::clamp(wait, std::chrono::milliseconds::zero(), longest));
}

void QtLoop::runDue()
{
    while (m_timers.runDue(now())) {
    }
    arm();
}

} // namespace lockscope

#include "moc_qtloop.cpp"
