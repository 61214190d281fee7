// SPDX-License-Identifier: Apache-2.0
// One session among the locks: what it holds and who inherits each, what it waits for and how far behind, what falls
// when it ends. Pure.
#pragma once

#include "ui/models/lockfacts.h"

#include <functional>

namespace lockscope::ui {

struct SessionLock {
    inspect::LockName lock;
    bool holds = false;
    QString place; // "holds", "2nd of 5"
    QString age;   // "4 m 12 s"
    QString next;  // of a hold: who gets it when the session ends; of a wait: who is before it
    friend bool operator==(const SessionLock &, const SessionLock &) = default;
};

struct SessionFacts {
    std::vector<SessionLock> locks; // what it holds first
    QString ifItEnds;               // one sentence
};

using FindLock = std::function<const inspect::LockSnapshot *(const inspect::LockName &)>;
// `now`: of our clock.
[[nodiscard]] SessionFacts sessionFactsOf(const inspect::SessionSnapshot &session, const FindLock &find,
                                          SystemTime now);

// What the user calls its client, else it itself, by the first of its locks; empty where that is no name.
[[nodiscard]] QString selfNameOf(const inspect::SessionSnapshot &session, const FindLock &find);

} // namespace lockscope::ui
