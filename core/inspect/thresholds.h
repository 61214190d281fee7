// SPDX-License-Identifier: Apache-2.0
// From when on an age is worth a finding: the values, their defaults, and who has others. The user's stand in a file
// (core/workspace/thresholdfile.h).
#pragma once

#include "core/inspect/snapshot.h"

namespace lockscope::inspect {

struct Thresholds {
    std::chrono::milliseconds longHeld{std::chrono::minutes(10)};
    std::chrono::milliseconds longWait{std::chrono::minutes(2)};
    // Held so many times longer than ever seen of this lock: said before longHeld has passed. 0: never.
    int unusual = 10;
    friend bool operator==(const Thresholds &, const Thresholds &) = default;
};

// What some locks have other than the rest; a value that is not said is looked for further down.
struct ThresholdRule {
    QString pattern; // see matchesGlob()
    std::optional<std::chrono::milliseconds> longHeld{};
    std::optional<std::chrono::milliseconds> longWait{};
    std::optional<int> unusual{};
    friend bool operator==(const ThresholdRule &, const ThresholdRule &) = default;
};

struct ThresholdRules {
    Thresholds usual;
    std::vector<ThresholdRule> rules; // of each value, the first rule that matches and says it counts
    [[nodiscard]] Thresholds of(const LockName &lock) const;
    friend bool operator==(const ThresholdRules &, const ThresholdRules &) = default;
};

// Patterns of locks, as people write them: a shell's glob on CONNECTION:NAME, or on NAME.

// `*` goes beyond a slash. The lock is matched as it is shown: escaped.
[[nodiscard]] bool matchesGlob(const LockName &lock, const QString &glob);

} // namespace lockscope::inspect
