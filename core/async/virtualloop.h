// SPDX-License-Identifier: Apache-2.0
// A loop on virtual time, for tests and simulations: time passes only when nothing else is to do. All on one thread,
// which need not always be the same one.
#pragma once

#include "core/async/timerqueue.h"

namespace lockscope {

// Stands between the loop and what is posted through it: a process that may be paused, or dead.
class ExecutorHook : public LocallyCounted {
public:
    // Calls it, or keeps it, or drops it.
    virtual void pass(Call &&call) = 0;
};

// What a virtual loop has to run now, first in, first out. Each call has a block of its own and runs where it lies.
class CallQueue {
public:
    CallQueue() = default;
    CallQueue(const CallQueue &) = delete;
    CallQueue &operator=(const CallQueue &) = delete;
    ~CallQueue()
    {
        while (m_first)
            const auto dropped = take();
    }

    void push(Call &&call, LocalPtr<ExecutorHook> hook)
    {
        auto *const last = new Entry(std::move(call), std::move(hook));
        (m_first ? m_last->next : m_first) = last;
        m_last = last;
    }
    // Runs the first one, which is in the queue no more; false when there is none.
    bool runFirst()
    {
        if (!m_first)
            return false;
        const auto first = take();
        if (first->hook)
            first->hook->pass(std::move(first->call));
        else
            first->call();
        return true;
    }

private:
    struct Entry : OnFreeList {
        Entry(Call &&call_, LocalPtr<ExecutorHook> &&hook_) : call(std::move(call_)), hook(std::move(hook_)) {}
        Call call;
        LocalPtr<ExecutorHook> hook; // may be none
        Entry *next = nullptr;
    };
    [[nodiscard]] std::unique_ptr<Entry> take()
    {
        return std::unique_ptr<Entry>(std::exchange(m_first, m_first->next));
    }

    Entry *m_first = nullptr, *m_last = nullptr; // the last one only while there is a first
};

class VirtualLoop : public Loop {
public:
    VirtualLoop() : Loop(true) {}
    void post(Call call) override { m_queue.push(std::move(call), {}); }
    void postThrough(LocalPtr<ExecutorHook> hook, Call &&call) { m_queue.push(std::move(call), std::move(hook)); }
    [[nodiscard]] Instant now() const override { return m_now; }
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override
    {
        return std::chrono::system_clock::time_point(m_now.time_since_epoch());
    }
    [[nodiscard]] Timer callAt(Instant when, Call call) override { return m_timers.add(when, std::move(call)); }

    // As callAt, for what nobody cancels.
    void runAt(Instant when, NearCalls::NearCall &&call) { m_timers.addKept(m_now, when, std::move(call)); }
    // The next moment at which something falls due; empty when nothing will.
    [[nodiscard]] std::optional<Instant> next() const { return m_timers.next(); }

    // Runs what is queued, without letting time pass.
    void runReady()
    {
        while (m_queue.runFirst()) {
        }
    }
    // Lets time pass, running everything that falls due.
    void advance(Duration span)
    {
        const auto until = m_now + span;
        runThrough(until);
        m_now = until;
    }
    // Until nothing is queued and no timer is left.
    void runUntilIdle() { runThrough(Instant::max()); }

private:
    void runThrough(Instant until)
    {
        do
            runReady();
        while (m_timers.runDue(until, &m_now));
    }

    CallQueue m_queue;
    TimerQueue m_timers;
    Instant m_now{};
};

} // namespace lockscope
