// SPDX-License-Identifier: Apache-2.0
// The queue and the clock that coroutines run on.
//
// Everything that talks to servers lives on one Loop: the I/O thread's in the programs (QtLoop),
// a virtual one in simulations and in tests of timing (VirtualLoop).
#pragma once

// moc 6.4 stops at the concepts of <chrono> when they come first in a Q_OBJECT header.
#include <version>

#include "core/async/moveonlyfunction.h"
#include "core/base/clock.h"

namespace lockscope {

using Duration = std::chrono::microseconds;
// Monotonic: never jumps with the wall clock.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// A pending callAt. Destroying it cancels the call. Belongs to the loop's thread.
class Timer {
public:
    Timer() = default;
    explicit Timer(std::shared_ptr<void> keepAlive) : m_keepAlive(std::move(keepAlive)) {}
    void cancel() { m_keepAlive.reset(); }

private:
    std::shared_ptr<void> m_keepAlive; // loops hold a weak reference
};

class Loop {
public:
    virtual ~Loop() = default;

    // Whether whatever has to do with this loop is made, used and let go on one thread, as in a simulated world: who
    // holds it can be counted there in plain steps. A simulated request and its answer would take sixty atomic ones.
    [[nodiscard]] bool isOfOneThread() const { return m_isOfOneThread; }

    // Runs `call` on the loop's thread, after what was posted before. Safe from any thread.
    virtual void post(Call call) = 0;
    // Loop thread only, as everything below.
    [[nodiscard]] virtual Instant now() const = 0;
    // The wall clock, for what is shown to people; never for deadlines.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wallNow() const = 0;
    [[nodiscard]] virtual Timer callAt(Instant when, Call call) = 0;

protected:
    explicit Loop(bool isOfOneThread = false) : m_isOfOneThread(isOfOneThread) {}

private:
    const bool m_isOfOneThread;
};

// The latest moment something may take; computed once and passed on, so that no retry starts the clock again.
class Deadline {
public:
    static Deadline never() { return {}; }
    static Deadline at(Instant when) { return Deadline(when); }
    static Deadline after(const Loop &loop, std::chrono::milliseconds span) { return Deadline(loop.now() + span); }

    [[nodiscard]] bool isNever() const { return m_when == Instant::max(); }
    [[nodiscard]] Instant when() const { return m_when; }
    [[nodiscard]] bool hasPassed(const Loop &loop) const { return !isNever() && loop.now() >= m_when; }
    // Not negative; Duration::max() when there is no limit.
    [[nodiscard]] Duration remaining(const Loop &loop) const
    {
        if (isNever())
            return Duration::max();
        return std::max(Duration::zero(), m_when - loop.now());
    }

private:
    Deadline() = default;
    explicit Deadline(Instant when) : m_when(when) {}
    Instant m_when = Instant::max();
};

// By what a loop's observers and recorders date what they see: its wall clock, less what that was set by meanwhile.

// Goes on evenly when somebody sets the wall clock: ages and spans are differences of such moments. What is written
// for others to compare with their clocks takes loop.wallNow().
[[nodiscard]] inline WallTime datedNow(const Loop &loop)
{
    for (;;) {
        const auto before = programClock().setBy();
        const auto wall = loop.wallNow();
        if (programClock().setBy() == before) // else it was set between the two
            return wall - before;
    }
}

} // namespace lockscope
