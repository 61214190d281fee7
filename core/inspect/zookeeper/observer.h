// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of one ZooKeeper connection's locks up to date.
//
// Finding: `dump` of the servers names every ephemeral node, so only directories that may hold a lock are
// read; where `dump` is refused, a bounded crawl. Following: one children watch per lock directory; an
// event makes that directory be read again and nothing else. `dump` is repeated every second while that is
// cheap, `cons` and `wchp` soon after changes, and a slow sweep looks for lock nodes without a session.
//
// The session (already behind the gate) and the source must outlive the observer. A broken connection
// leaves the snapshots as they are, and everything is read again when it is back; when the session is over
// the observer falls silent: whoever opens the next one makes a new observer. Loop thread only.
#pragma once

#include "core/inspect/zookeeper/observerfind.h"

namespace lockscope::inspect {

class ZooKeeperObserver : public Observer {
public:
    ZooKeeperObserver(zk::Session &session, zk::EvidenceSource &source, ConnectionName connection, QByteArray chroot,
                      ObserverOptions options, ObserverSink &sink);

    void start() override { m_finder.start(); }
    [[nodiscard]] Completion<bool> firstSnapshot() const override { return m_finder.firstSnapshot(); }
    // Evidence is asked for along with it, for at most a second. The sink is told, too, if the lock's
    // directory is being followed.
    Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) override;
    Task<Result<LockSnapshot>> readHolds(QByteArray name, Deadline deadline) override;
    [[nodiscard]] std::vector<LockSnapshot> snapshots() const override { return m_finder.judge().snapshots().all(); }
    [[nodiscard]] std::vector<SessionSnapshot> sessions() const override { return m_finder.reporter().sessions(); }
    [[nodiscard]] std::vector<Coverage> coverage() const override;

private:
    const ObservedEnsemble m_ensemble;
    LockFinder m_finder;
    std::vector<Coverage> m_readCoverage; // of readNow(), where nothing is followed
};

} // namespace lockscope::inspect
