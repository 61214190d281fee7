// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of one PostgreSQL's locks up to date, by asking: it tells nothing unasked. At most every 250
// ms, and resting nine times as long as a look takes (the quicker of the last two).
//
// Survives reconnects. Loop thread only; not to be destroyed from within a call to its sink.
#pragma once

#include "core/async/scope.h"
#include "core/inspect/changereporter.h"
#include "core/inspect/postgresql/reader.h"
#include "core/inspect/snapshotstore.h"
#include "core/inspect/usualholds.h"

namespace lockscope::inspect {

class PostgreSqlObserver : public Observer {
public:
    // `session` (behind the gate) and `sink` must outlive the observer.
    PostgreSqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink);

    void start() override;
    [[nodiscard]] Completion<bool> firstSnapshot() const override { return m_firstSnapshot; }
    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray name, Deadline deadline) override;
    [[nodiscard]] std::vector<LockSnapshot> snapshots() const override { return m_known.all(); }
    [[nodiscard]] std::vector<SessionSnapshot> sessions() const override { return m_reporter.sessions(); }
    [[nodiscard]] std::vector<Coverage> coverage() const override;

private:
    Task<void> poll();
    Task<bool> lookAndTell(Deadline deadline);
    [[nodiscard]] std::vector<LockSnapshot> judged(std::vector<LockSnapshot> snapshots) const;
    void settle(const PgLook &look);
    void tellProgress();
    void tellCost(Duration rest);

    mariadb::Session &m_session;
    Loop &m_loop;
    ConnectionName m_name;
    ObserverOptions m_options;
    ObserverSink &m_sink;
    PgReader m_reader;
    Completion<bool> m_firstSnapshot;
    SnapshotStore m_known;
    UsualHolds m_usual;
    ChangeReporter m_reporter;
    qint64 m_costRequests = 0;
    QString m_notAnswering; // why what is shown may be of earlier; empty while looks succeed
    Duration m_tookBefore{0};
    Scope m_work; // last: its coroutines use everything above
};

} // namespace lockscope::inspect
