// SPDX-License-Identifier: Apache-2.0
// Stands between an observer and the program's sink, and outlives observers: a ZooKeeper session that
// expired gets a new observer, whose first snapshot must not look like news, and what vanished
// meanwhile must be told as removed.
#pragma once

#include "core/inspect/observer.h"

#include <map>

namespace lockscope {

class ObserverProxy : public inspect::ObserverSink {
public:
    // `sink` may be null; then snapshots are only kept.
    ObserverProxy(ConnectionName connection, inspect::ObserverSink *sink)
        : m_connection(std::move(connection)), m_sink(sink)
    {
    }

    void locksChanged(std::vector<inspect::SnapshotChange> changes) override;
    void sessionsChanged(const ConnectionName &connection, std::vector<inspect::SessionSnapshot> sessions) override;
    void coverageChanged(const ConnectionName &connection, std::vector<inspect::Coverage> coverage) override;
    void progressed(inspect::Progress progress) override;
    void costChanged(const ConnectionName &connection, inspect::Cost cost) override;
    void looked(const ConnectionName &connection) override;

    // What stands before how it is followed: "Redis Cluster". Empty: nothing.
    void describe(const QString &what) { m_what = what; }
    // Besides what the observer could not see; empty: nothing. Told at once.
    void addGap(const QString &message);
    [[nodiscard]] std::vector<inspect::Coverage> withGap(std::vector<inspect::Coverage> coverage) const;
    // A new observer starts from nothing.
    void observerReplaced();
    // Its first snapshot is complete: what only the old one knew is gone.
    void firstSnapshotComplete();
    // From the proxy of a connection that this one replaces: what that told is known, until the first snapshot.
    void takeOver(ObserverProxy &before);
    // The connection is removed: everything of it is gone.
    void removeAll();

    [[nodiscard]] const inspect::Progress &progress() const { return m_progress; }
    [[nodiscard]] const inspect::Cost &cost() const { return m_cost; }
    // The last moment this connection's snapshots were known to be true.
    [[nodiscard]] std::chrono::system_clock::time_point heardAt() const { return m_heardAt; }
    // The last moment all of them were: a lock that changed says nothing of the others.
    [[nodiscard]] std::chrono::system_clock::time_point lookedAt() const { return m_lookedAt; }

private:
    void tell(std::vector<inspect::SnapshotChange> changes);

    ConnectionName m_connection;
    inspect::ObserverSink *m_sink;
    std::map<inspect::LockName, inspect::LockSnapshot> m_known;
    std::map<inspect::LockName, inspect::LockSnapshot> m_unconfirmed; // of the observer before
    void tellCoverage();

    QString m_what;
    QString m_gap;
    std::vector<inspect::Coverage> m_coverage; // the observer's own
    inspect::Progress m_progress;
    inspect::Cost m_cost;
    std::chrono::system_clock::time_point m_heardAt{};
    std::chrono::system_clock::time_point m_lookedAt{};
};

} // namespace lockscope
