// SPDX-License-Identifier: Apache-2.0
// A loop on virtual time, for tests and simulations: time passes only when nothing else is to do. All on one thread,
// which need not always be the same one.
#pragma once

#include "core/async/fifo.h"
#include "core/async/localptr.h"
#include "core/async/timerqueue.h"

namespace lockscope {

// Stands between the loop and what is posted through it: a process that may be paused, or dead.
class ExecutorHook : public LocallyCounted {
public:
    // Calls it, or keeps it, or drops it.
    virtual void pass(Call &&call) = 0;
};

class VirtualLoop : public Loop {
public:
    VirtualLoop() : Loop(true) {}
    void post(Call call) override { m_queue.emplace(std::move(call), LocalPtr<ExecutorHook>()); }
    void postThrough(LocalPtr<ExecutorHook> hook, Call &&call) { m_queue.emplace(std::move(call), std::move(hook)); }
    [[nodiscard]] Instant now() const override { return m_now; }
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, Call call) override;

    // As callAt, for what nobody cancels.
    void runAt(Instant when, Call &&call) { m_timers.addKept(m_now, when, std::move(call)); }
    // The next moment at which something falls due; empty when nothing will.
    [[nodiscard]] std::optional<Instant> next() const { return m_timers.next(); }

    // Runs what is queued, without letting time pass.
    void runReady();
    // Lets time pass, running everything that falls due.
    void advance(Duration span);
    // Until nothing is queued and no timer is left.
    void runUntilIdle();

private:
    struct Queued {
        Call call;
        LocalPtr<ExecutorHook> hook;
    };
    Fifo<Queued> m_queue;
    TimerQueue m_timers;
    Instant m_now{};
};

} // namespace lockscope
