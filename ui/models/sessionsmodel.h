// SPDX-License-Identifier: Apache-2.0
// The clients that servers know: who they are, what they hold and wait for. One list over all
// connections, by connection and session, changed row by row. GUI thread only.
#pragma once

#include "core/base/clock.h"
#include "core/workspace/backend.h"
#include "ui/models/leasepulse.h"

#include <QAbstractTableModel>

#include <functional>
#include <map>
#include <set>

namespace lockscope::ui {

class SessionsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Connection, Session, Endpoint, Client, Holds, Waits, Expires, ColumnCount };
    enum Role { SortRole = Qt::UserRole, FilterRole, ToneRole };
    using Clock = std::function<std::chrono::system_clock::time_point()>;

    explicit SessionsModel(
        QObject *parent = nullptr, Clock clock = [] { return programClock().now(); });

    // What a session's client calls itself, as its locks know it; empty where it calls itself nothing.
    using SelfName = std::function<QString(const inspect::SessionSnapshot &)>;
    void setSelfName(SelfName selfName) { m_selfName = std::move(selfName); }

    // The complete sessions of these connections.
    void apply(const std::vector<ConnectionName> &connections, std::vector<inspect::SessionSnapshot> sessions);
    // What was heard of renewals is of another moment than what comes.
    void forgetPulses() { m_pulses.clear(); }
    // What is known of this connection's sessions is old: they are pale, and how long they live is not known.
    void setDown(const ConnectionName &name, bool down);
    [[nodiscard]] const inspect::SessionSnapshot &at(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

    // -1 if there is none.
    [[nodiscard]] int find(const ConnectionName &connection, const QString &session) const;
    [[nodiscard]] bool isDown(const ConnectionName &name) const { return m_down.contains(name); }
    // When it was renewed, since this window is open.
    [[nodiscard]] const LeasePulse &pulseOf(const inspect::SessionSnapshot &session) const;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void feel(const std::vector<ConnectionName> &connections, const std::vector<inspect::SessionSnapshot> &sessions);
    [[nodiscard]] QString display(const inspect::SessionSnapshot &session, int column) const;
    [[nodiscard]] QVariant sortKey(const inspect::SessionSnapshot &session, int column) const;

    [[nodiscard]] QString clientWords(const inspect::SessionSnapshot &session) const;

    Clock m_clock;
    SelfName m_selfName;
    std::vector<inspect::SessionSnapshot> m_rows;
    std::set<ConnectionName> m_down;
    std::map<std::pair<ConnectionName, QString>, LeasePulse> m_pulses;
};

} // namespace lockscope::ui
