// SPDX-License-Identifier: Apache-2.0
// One MariaDB's or MySQL's observer. It looks less often where the looks of others keep the server from renewing what
// it tells of rows (core/mariadb/session.h). Coverage says then how old that may be, and so does each snapshot of a
// row.
#pragma once

#include "core/inspect/mariadb/reader.h"
#include "core/inspect/observer.h"
#include "core/inspect/pace.h"

namespace lockscope::inspect {

// Since when a named lock is held: servers of SQL show who has it and not since when, but a client that did not have
// it at one look and has it at the next took it no sooner than the first of them.
//
// Into a snapshot of a new look. `before`: that lock as of the look before, none if no client had it or wanted it.
// `lookedBefore`: when that look was, as the server has the time; none where there was none that shows all of them.
// Who let go and took it again in between is told from who kept it only where the server has a word for each hold.
void notifyBeginnings(LockSnapshot &snapshot, const LockSnapshot *before, std::optional<ServerTime> lookedBefore);

// Keeps the snapshots of one SQL server's locks up to date, by asking: such a server tells nothing unasked. At most
// every 250 ms, and resting nine times as long as a look takes (the quicker of the last two: one that was slow once
// was held up, and is not made up for by resting). What one look is differs from server to server.
//
// Survives reconnects. Loop thread only; not to be destroyed from within a call to its sink.
class SqlObserver : public KeepingObserver {
public:
    void start() final
    {
        if (m_work.isIdle())
            m_work.launch(poll());
    }
    [[nodiscard]] std::vector<Coverage> coverage() const final;

protected:
    // `session` (behind the gate) and `sink` must outlive the observer.
    SqlObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink)
        : KeepingObserver(session.loop(), std::move(name), std::move(options), sink), m_session(session),
          m_work(m_loop)
    {
    }

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
    [[nodiscard]] std::vector<LockSnapshot> judged(std::vector<LockSnapshot> snapshots) const
    {
        for (auto &snapshot : snapshots) {
            notifyBeginnings(snapshot, m_snapshots.find(snapshot.lock.name), m_showedAllNamed);
            addAgeFindings(snapshot, *m_options.thresholds, m_usual);
        }
        return snapshots;
    }
    // What a look is made with ends sooner than this: each destructor calls it.
    void stop() { m_work.cancelAll(); }

private:
    Task<void> poll();
    Task<bool> lookAndTell(Deadline deadline);
    void settle(Seen seen);
    void notifyProgress();
    void notifyCost(Duration rest)
    {
        const auto requests = looks().requests;
        Cost cost;
        cost.requestsPerSecond = static_cast<double>(requests - std::exchange(m_costRequests, requests))
                                 / std::chrono::duration<double>(rest).count();
        m_reporter.tell(cost);
    }

    mariadb::Session &m_session;
    std::optional<ServerTime> m_showedAllNamed; // the look that m_snapshots is of
    qint64 m_costRequests = 0;
    QString m_notAnswering; // why what is shown may be of earlier; empty while looks succeed
    WorkMeter m_meter;
    Scope m_work; // last: its coroutines use everything above
};

class MariaDbObserver final : public SqlObserver {
public:
    MariaDbObserver(mariadb::Session &session, ConnectionName name, ObserverOptions options, ObserverSink &sink)
        : SqlObserver(session, std::move(name), std::move(options), sink), m_reader(session)
    {
    }
    ~MariaDbObserver() override { stop(); }

    // The task must not outlive the observer.
    Task<Result<LockSnapshot>> readNow(QByteArray lock, Deadline deadline) override;

private:
    Task<Result<Seen>> look(Deadline deadline) override;
    [[nodiscard]] Duration restAfterLook(Duration usual) override { return m_reader.restAfterLook(usual); }
    [[nodiscard]] Looks looks() const override
    {
        auto gaps = m_reader.gaps();
        if (m_reader.hasLooked() && !m_reader.rowsAreFresh())
            gaps << oldRowsText();
        return {m_reader.hasLooked(), m_reader.requests(), gaps, m_reader.lockTablesNotRead(),
                m_reader.endedDeadlocks()};
    }
    [[nodiscard]] QString coverageDescription() const override;
    [[nodiscard]] std::vector<LockSnapshot> steadied(std::vector<LockSnapshot> snapshots) const;
    [[nodiscard]] QString oldRowsText() const
    {
        return u"row locks %1 may be old: another client, or another Lockscope, reads INNODB_TRX more often than "
               u"every 100 ms. The server refreshes its copy only between such reads"_s.arg(m_reader.ageOfRows());
    }

    SqlReader m_reader;
};

// What the user of a connection may do there: a sentence each, by the privileges that the server lists for
// CURRENT_USER(); what roles add is not in that list, and said not to be. `session` outlives the task.
[[nodiscard]] Task<QStringList> mariaDbRights(mariadb::Session *session, Deadline deadline);

// The id under which snapshots show what one of our own connections holds. Empty where the server does not tell:
// without PROCESS, or while others keep what it says of transactions from being renewed. `recipe`: sql-for-update or
// sql-get-lock; none has an id of this kind else. The session holds it now.
[[nodiscard]] Task<std::optional<QByteArray>> ownContenderId(mariadb::Session *session, QByteArray recipe,
                                                             Deadline deadline);

} // namespace lockscope::inspect
