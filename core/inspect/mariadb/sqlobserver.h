// SPDX-License-Identifier: Apache-2.0
// Keeps the snapshots of one SQL server's locks up to date, by asking: such a server tells nothing unasked. At most
// every 250 ms, and resting nine times as long as a look takes (the quicker of the last two: one that was slow once
// was held up, and is not made up for by resting). What one look is differs from server to server.
//
// Survives reconnects. Loop thread only; not to be destroyed from within a call to its sink.
#pragma once

#include "core/async/scope.h"
#include "core/inspect/observer.h"
#include "core/inspect/snapshotstore.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

// Since when a named lock is held: servers of SQL show who has it and not since when, but a client that did not have
// it at one look and has it at the next took it no sooner than the first of them.
//
// Into a snapshot of a new look. `before`: that lock as of the look before, none if no client had it or wanted it.
// `lookedBefore`: when that look was, as the server has the time; none where there was none that shows all of them.
// Who let go and took it again in between is told from who kept it only where the server has a word for each hold.
void notifyBeginnings(LockSnapshot &snapshot, const LockSnapshot *before, std::optional<ServerTime> lookedBefore);

class SqlObserver : public Observer {
public:
    void start() final;
    [[nodiscard]] Completion<bool> firstSnapshot() const final { return m_firstSnapshot; }
    [[nodiscard]] std::vector<LockSnapshot> snapshots() const final { return m_known.all(); }
    [[nodiscard]] std::vector<SessionSnapshot> sessions() const final { return m_reporter.sessions(); }
    [[nodiscard]] std::vector<Coverage> coverage() const final;

protected:
    // `session` (behind the gate) and `sink` must outlive the observer.
    SqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink);

    struct Seen {
        std::vector<LockSnapshot> snapshots;
        std::vector<SessionSnapshot> sessions;
        std::optional<ServerTime> now;
        std::optional<ServerTime> showedAllNamed; // when it was, where it showed every named lock
    };
    virtual Task<Result<Seen>> look(Deadline deadline) = 0;
    // At least `usual`.
    [[nodiscard]] virtual Duration restAfterLook(Duration usual) { return usual; }
    // Of all looks so far.
    struct Looks {
        bool any = false;
        qint64 requests = 0;
        QStringList gaps; // of the last one
        std::vector<Unexplained> unexplained{};
        std::vector<EndedDeadlock> endedDeadlocks{};
    };
    [[nodiscard]] virtual Looks looks() const = 0;
    std::vector<Unexplained> m_unexplained; // waits of the last look that no snapshot shows
    // Coverage without a gap.
    [[nodiscard]] virtual QString coverageDescription() const = 0;

    // With since when a named lock is held at most, and findings of age.
    [[nodiscard]] std::vector<LockSnapshot> judged(std::vector<LockSnapshot> snapshots) const;
    [[nodiscard]] const ConnectionName &name() const { return m_name; }
    [[nodiscard]] const SnapshotStore &known() const { return m_known; }
    // What a look is made with ends sooner than this: each destructor calls it.
    void stop() { m_work.cancelAll(); }

private:
    Task<void> poll();
    Task<bool> lookAndTell(Deadline deadline);
    void settle(Seen seen);
    void notifyCoverage() { m_reporter.tell(coverage()); }
    void notifyProgress();
    void notifyCost(Duration rest);

    mariadb::Session &m_session;
    Loop &m_loop;
    ConnectionName m_name;
    ObserverOptions m_options;
    ObserverSink &m_sink;
    Completion<bool> m_firstSnapshot;
    SnapshotStore m_known;
    std::optional<ServerTime> m_showedAllNamed; // the look that m_known is of
    UsualHolds m_usual;
    ChangeReporter m_reporter;
    qint64 m_costRequests = 0;
    QString m_notAnswering; // why what is shown may be of earlier; empty while looks succeed
    Duration m_tookBefore{0};
    Scope m_work; // last: its coroutines use everything above
};

} // namespace lockscope::inspect
