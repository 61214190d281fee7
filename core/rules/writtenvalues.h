// SPDX-License-Identifier: Apache-2.0
// A time that a client wrote as the value of a Redis key. Whoever shows such a lock and whoever takes it read the
// value with this one function, so that neither takes for long past what the other takes for ahead. Any thread.
#pragma once

#include <QByteArray>

#include <chrono>
#include <optional>

namespace lockscope::recipes {

struct WrittenMoment {
    enum class Form { Milliseconds, Seconds, Fraction };
    std::chrono::sys_time<std::chrono::milliseconds> at{};
    Form form = Form::Milliseconds;
};

// Reads a number of milliseconds or seconds since 1970, perhaps with a fraction, that is a time of the last day or of
// the year ahead. The unit is the one by which it is such a time; every other number (a count, a process) is none.
[[nodiscard]] std::optional<WrittenMoment> readMoment(const QByteArray &value,
                                                      std::chrono::sys_time<std::chrono::milliseconds> now);

// What Curator's Revoker writes into a holder's node to ask it to let go.

inline constexpr char revocationMark[] = "__REVOKE__";

} // namespace lockscope::recipes
