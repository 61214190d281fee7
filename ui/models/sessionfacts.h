// SPDX-License-Identifier: Apache-2.0
// One session among the locks: what it holds and who inherits each, what it waits for and how far behind, what falls
// when it ends, and when its lease was renewed.
#pragma once

#include <version>

#include "ui/models/lockfacts.h"
#include "ui/models/rowsmodel.h"

#include <deque>

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

// The locks of one session as a table. A lock whose texts alone change keeps its row.
class SessionLocksModel : public RowsModel<SessionLock> {
    Q_OBJECT
public:
    enum Column { Place, Lock, Age, Next, ColumnCount };

    explicit SessionLocksModel(QObject *parent = nullptr);
    void setLocks(std::vector<SessionLock> locks);
};

// The renewals of a lease, as far as this window saw them, the newest of them. Pure.
class LeasePulse {
public:
    using Time = std::chrono::system_clock::time_point;
    struct Beat {
        Time at;      // we heard of it
        Time expires; // until when it lives since then
    };

    // It lives until `expires` now; whether that is later than before is what tells a renewal.
    void heard(Time expires, Time now);
    [[nodiscard]] const std::deque<Beat> &beats() const { return m_beats; }
    // "renewed 12 times in 58 s, every 5.0 s; the last time 2.1 s ago"
    [[nodiscard]] QString text(Time now) const;

private:
    std::deque<Beat> m_beats;
};

} // namespace lockscope::ui
