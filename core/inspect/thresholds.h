// SPDX-License-Identifier: Apache-2.0
// From when on an age is worth a finding: the values, their defaults, and who has others. The user's stand in a file
// (core/workspace/settingsfile.h).
#pragma once

#include "core/inspect/snapshot.h"

#include <map>

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

// How long a lock is usually held, by the holds that were seen from their beginning to their end. What is held
// long by its nature is told apart by it from what changed.
struct Usual {
    int seen = 0; // the last so many holds
    std::chrono::milliseconds median{};
    std::chrono::milliseconds most{};
    friend bool operator==(const Usual &, const Usual &) = default;
};

class UsualHolds {
public:
    // How it looks now. A hold whose beginning was not seen does not count.
    void note(const LockSnapshot &lock);
    // Of what is looked at one by one: empty when nothing is left of it.
    void note(const QByteArray &name, const std::optional<LockSnapshot> &lock, ServerTime now)
    {
        lock ? note(*lock) : noteGone(name, now);
    }
    // Nobody holds it any more, and nothing is left of it.
    void noteGone(const QByteArray &name, ServerTime now);
    // Empty until enough was seen to say so.
    [[nodiscard]] std::optional<Usual> of(const QByteArray &name) const;

private:
    struct Holding {
        QByteArray id;
        ServerTime since;
    };
    struct Kept {
        std::vector<Holding> holding;
        std::vector<qint64> holds; // in ms, the newest last
    };
    [[nodiscard]] Kept *find(const QByteArray &name);
    static void end(Kept &kept, const Holding &holding, ServerTime now);

    // Names come and go (a lock per order): those that were not used since the younger half was begun are forgotten.
    std::map<QByteArray, Kept> m_young;
    std::map<QByteArray, Kept> m_old;
};

} // namespace lockscope::inspect
