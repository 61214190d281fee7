// SPDX-License-Identifier: Apache-2.0
// How long a lock is usually held, by the holds that were seen from their beginning to their end. What is held
// long by its nature is told apart by it from what changed.
#pragma once

#include "core/inspect/snapshot.h"

#include <map>

namespace lockscope::inspect {

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
