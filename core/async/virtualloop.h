// SPDX-License-Identifier: Apache-2.0
// A loop on virtual time, for tests and simulations: time passes only when nothing else is to do. All on one thread,
// which need not always be the same one.
#pragma once

#include "core/async/callqueue.h"
#include "core/async/timerqueue.h"

namespace lockscope {

class VirtualLoop : public Loop {
public:
    VirtualLoop() : Loop(true) {}
    void post(Call call) override;
    void postThrough(LocalPtr<ExecutorHook> hook, Call &&call);
    [[nodiscard]] Instant now() const override { return m_now; }
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, Call call) override;

    // As callAt, for what nobody cancels.
    void runAt(Instant when, NearCalls::NearCall &&call) { m_timers.addKept(m_now, when, std::move(call)); }
    // The next moment at which something falls due; empty when nothing will.
    [[nodiscard]] std::optional<Instant> next() const { return m_timers.next(); }

    // Runs what is queued, without letting time pass.
    void runReady();
    // Lets time pass, running everything that falls due.
    void advance(Duration span);
    // Until nothing is queued and no timer is left.
    void runUntilIdle();

private:
    CallQueue m_queue;
    TimerQueue m_timers;
    Instant m_now{};
};

} // namespace lockscope
