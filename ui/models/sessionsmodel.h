// SPDX-License-Identifier: Apache-2.0
// The clients that servers know: who they are, what they hold and wait for. One list over all
// connections, by connection and session, changed row by row. GUI thread only.
#pragma once

#include "core/base/clock.h"
#include "core/workspace/backend.h"
#include "ui/models/sessionfacts.h"

#include <set>

namespace lockscope::ui {

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
