// A loop on virtual time, for tests and simulations: time passes only when nothing else is to do.
#pragma once

#include "core/async/timerqueue.h"

#include <deque>

namespace lockscope {

class VirtualLoop : public Loop {
public:
    void post(std::function<void()> call) override { m_queue.push_back(std::move(call)); }
    [[nodiscard]] Instant now() const override { return m_now; }
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, std::function<void()> call) override;

    // As callAt, for what nobody cancels.
    void runAt(Instant when, std::function<void()> call) { m_timers.addKept(when, std::move(call)); }
    // The next moment at which something falls due; empty when nothing will.
    [[nodiscard]] std::optional<Instant> next() const { return m_timers.next(); }

    // Runs what is queued, without letting time pass.
    void runReady();
    // Lets time pass, running everything that falls due.
    void advance(Duration span);
    // Until nothing is queued and no timer is left.
    void runUntilIdle();

private:
    std::deque<std::function<void()>> m_queue;
    TimerQueue m_timers;
    Instant m_now{};
};

} // namespace lockscope
