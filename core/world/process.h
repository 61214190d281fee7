// SPDX-License-Identifier: Apache-2.0
// A client process of the simulated world: a loop of its own on the world's time, with clocks that can be
// wrong, which can be paused (SIGSTOP, a long garbage collection) and killed.
//
// Everything of one client runs on its Process as it would on the I/O thread of a program, so that recipes
// cannot tell the difference. World's thread only; the world's loop outlives it.
#pragma once

#include "core/async/onfreelist.h"
#include "core/async/virtualloop.h"

#include <memory>

namespace lockscope::world {

class Process : public Loop, public OnFreeList {
public:
    Process(VirtualLoop &world, int number);
    ~Process() override;
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;

    [[nodiscard]] int number() const { return m_number; }

    void post(Call call) override;
    // Its own monotonic clock: goes on while it is paused, and fast or slow by its drift.
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] std::chrono::system_clock::time_point wallNow() const override;
    [[nodiscard]] Timer callAt(Instant when, Call call) override;
    // The moment of the world at which its clock, as it goes now, will say so; now, of one that has passed.
    [[nodiscard]] Instant inWorld(Instant own) const;

    // While it is paused nothing of it runs; what falls due and what arrives runs at resume(), in its order.
    void pause();
    void resume();
    [[nodiscard]] bool isPaused() const;
    // Nothing of it runs any more, for good. Whoever owns objects that live on it may destroy them afterwards:
    // what they still send goes nowhere. Not from inside a call that runs on it.
    void kill();
    [[nodiscard]] bool isAlive() const;
    // Called after each of these changes, in the world; for the network, which notices silence.
    using Listener = MoveOnlyFunction<void(), 16>;
    void onChange(Listener listener) { m_listener = std::move(listener); }

    // A second of its monotonic clock takes 1/rate seconds of the world's. Timers made before keep their moment.
    void setRate(double rate);
    void jumpWallClock(std::chrono::milliseconds by) { m_wallOffset += by; }

private:
    struct State;
    void tell();

    VirtualLoop &m_world;
    const int m_number;
    LocalPtr<State> m_state;
    Listener m_listener;
    double m_rate = 1;
    Instant m_rateSinceWorld{}, m_rateSinceOwn{};
    std::chrono::milliseconds m_wallOffset{0};
};

} // namespace lockscope::world
