// SPDX-License-Identifier: Apache-2.0
// The clients that servers know: who they are, what they hold and wait for. One list over all
// connections, by connection and session, changed row by row. GUI thread only.
#pragma once

#include "core/workspace/backend.h"
#include "ui/models/lockfacts.h"
#include "ui/models/rowsmodel.h"

namespace lockscope::ui {

// One session among the locks: what it holds and who inherits each, what it waits for and how far behind, what falls
// when it ends, and when its lease was renewed.
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

class SessionsModel : public RowsModel<inspect::SessionSnapshot> {
    Q_OBJECT
public:
    enum Column { Connection, Session, Endpoint, Client, Holds, Waits, Expires, ColumnCount };
    using Clock = std::function<std::chrono::system_clock::time_point()>;

    explicit SessionsModel(
        QObject *parent = nullptr, Clock clock = [] { return programClock().now(); });

    // What a session's client calls itself, as its locks know it; empty where it calls itself nothing.
    using SelfName = std::function<QString(const inspect::SessionSnapshot &)>;
    void setSelfName(SelfName selfName) { m_selfName = std::move(selfName); }

    // The complete sessions of some connections.
    void apply(const std::vector<inspect::SessionsSeen> &seen);
    // What was heard of renewals is of another moment than what comes.
    void forgetPulses() { m_pulses.clear(); }
    // What is known of this connection's sessions is old: they are pale, and how long they live is not known.
    void setDown(const ConnectionName &name, bool down);

    // -1 if there is none.
    [[nodiscard]] int find(const ConnectionName &connection, const QString &session) const;
    [[nodiscard]] bool isDown(const ConnectionName &name) const { return m_down.contains(name); }
    // When it was renewed, since this window is open.
    [[nodiscard]] const LeasePulse &pulseOf(const inspect::SessionSnapshot &session) const;

private:
    void feel(const std::set<ConnectionName> &connections, const std::vector<inspect::SessionSnapshot> &sessions);
    [[nodiscard]] RowColumn<inspect::SessionSnapshot>::Value toned(std::optional<Tone> tone) const;
    [[nodiscard]] QString clientWords(const inspect::SessionSnapshot &session) const;
    [[nodiscard]] QString expiryText(const inspect::SessionSnapshot &session) const;

    Clock m_clock;
    SelfName m_selfName;
    std::set<ConnectionName> m_down;
    std::map<std::pair<ConnectionName, QString>, LeasePulse> m_pulses;
};

} // namespace lockscope::ui
