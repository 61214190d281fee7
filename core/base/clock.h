// SPDX-License-Identifier: Apache-2.0
// The program's clock. What is measured in one run (ages, spans, the order of what was recorded) goes by it: it
// says what the machine's wall clock said when the run began, plus what has passed since, with the time the machine
// slept. It does not follow when somebody sets the wall clock; that is noticed, said, and reckoned in where a moment
// is shown to a person.
#pragma once

#include <version>

#include <QString>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

namespace lockscope {

using WallTime = std::chrono::system_clock::time_point;

// What the machine says at one moment.
struct ClockReading {
    WallTime wall;
    std::chrono::nanoseconds sinceBoot; // never set, and goes on while the machine sleeps
};

// The machine's wall clock was set.
struct ClockJump {
    WallTime at; // what it would say now, had it not been
    std::chrono::milliseconds by;
};

// "This machine's clock was set 2 h forward at 2026-03-01 03:12:00; ages are not changed by it"
[[nodiscard]] QString wordsOf(const ClockJump &jump);

// Any thread.
class Clock {
public:
    using Source = std::function<ClockReading()>;
    explicit Clock(Source source = machine);
    [[nodiscard]] static ClockReading machine();

    [[nodiscard]] WallTime now() const;
    // All that the wall clock was set by since the run began.
    [[nodiscard]] std::chrono::milliseconds setBy();
    // A moment of this clock as the machine's wall clock has it, and back.
    [[nodiscard]] WallTime wallOf(WallTime ours) { return ours + setBy(); }
    [[nodiscard]] WallTime ofWall(WallTime wall) { return wall - setBy(); }
    // What it was set by since the last call, for who tells people; less than a second is no news.
    [[nodiscard]] std::optional<ClockJump> takeJump();

    // For tests: time that goes where it is told. Begins anew, as a run does; nobody else may use it meanwhile.
    void setSource(Source source);

private:
    Source m_source;
    ClockReading m_begun;
    std::mutex m_mutex; // for both of these
    std::chrono::milliseconds m_setBy{}, m_told{};
};

[[nodiscard]] Clock &programClock();

} // namespace lockscope
