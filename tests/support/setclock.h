// SPDX-License-Identifier: Apache-2.0
// A machine whose wall clock is set while the program runs: the program's clock reads it while this lives.
#pragma once

#include "core/base/clock.h"

namespace lockscope::testing {

class SetClock {
public:
    explicit SetClock(WallTime wall) : m_reading{wall, std::chrono::hours(5)}
    {
        programClock().setSource([this] { return m_reading; });
    }
    ~SetClock() { programClock().setSource(Clock::machine); }
    SetClock(const SetClock &) = delete;
    SetClock &operator=(const SetClock &) = delete;

    [[nodiscard]] WallTime wall() const { return m_reading.wall; }
    void pass(std::chrono::milliseconds span)
    {
        m_reading.wall += span;
        m_reading.sinceBoot += span;
    }
    // Somebody sets it, by so much.
    void set(std::chrono::milliseconds by) { m_reading.wall += by; }

private:
    ClockReading m_reading;
};

} // namespace lockscope::testing
