// SPDX-License-Identifier: Apache-2.0
// What stands between the backend and the pages, so that "Pause" stops all of them at once: while paused, news is
// kept back, counted, and told as one batch afterwards. Questions and acts go through, and so does what somebody must
// know before acting: whether a connection is there, and whether it may be written to. The observers go on looking,
// or nobody could say what is held back.
//
// It also shows the pages another moment, of a recording: they are told the difference of what they show and
// what was then, and on return the difference back, so that no page knows of it. Meanwhile no server is asked, and
// nothing is done there. GUI thread only.
#pragma once

#include <version>

#include "ui/models/shown.h"

#include <set>

namespace lockscope::ui {

class LocksModel;

class PausableBackend : public Backend {
    Q_OBJECT
public:
    // `backend` outlives this.
    explicit PausableBackend(Backend &backend, QObject *parent = nullptr);

    void setPaused(bool paused);
    // How many locks changed since.
    [[nodiscard]] int waiting() const { return static_cast<int>(m_locks.size()); }

    // The locks that pages show now: the model that has them all, so that nobody keeps them twice.
    void useLocks(const LocksModel &locks) { m_allLocks = &locks; }
    // Shows that moment, `of` which its lock's history comes from now on, too.
    void showPast(PastPicture then, Past *of);
    void leavePast();
    [[nodiscard]] Past *past() override { return m_of ? m_of : m_backend.past(); }
    // Why nothing is asked or done there.
    [[nodiscard]] static Error notNow();
    // The same beside a greyed action.
    [[nodiscard]] static QString whyNotThere();

    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return m_backend.clientLabels(); }
    void setClientLabels(std::vector<inspect::ClientLabel> labels) override
    {
        m_backend.setClientLabels(std::move(labels)); // the user's words, of any moment
    }
    void connectTo(ConnectionSpec spec) override;
    void disconnectFrom(const ConnectionName &name) override;
    void retry(const ConnectionName &name) override;
    void setReadOnly(const ConnectionName &name, bool readOnly) override;
    void setThresholds(const inspect::ThresholdRules &rules) override;
    void listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                    Answer<std::vector<ZnodeRow>> answer) override;
    void readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                   Answer<ZnodeDetail> answer) override;
    void watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths) override;
    void scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor, QObject *context,
                  Answer<KeyPage> answer) override;
    void readKey(const ConnectionName &name, const RedisKey &key, QObject *context,
                 Answer<KeyDetail> answer) override;
    void tryConnection(const ConnectionSpec &spec, QObject *context, Answer<ConnectionAccount> answer) override;
    void readSession(const ConnectionName &name, const QString &session, QObject *context,
                     Answer<SessionDoing> answer) override;
    quint64 acquire(AcquireRequest request) override;
    void release(quint64 holdId) override;
    void planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                          Answer<operate::ForceReleasePlan> answer) override;
    void planWay(const inspect::LockName &lock, const QByteArray &contender, operate::Way way, QObject *context,
                 Answer<operate::ForceReleasePlan> answer) override;
    void rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer) override;
    void forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                      Answer<operate::ForceReleaseOutcome> answer) override;
    void bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                     std::function<void(int)> progressed, Answer<operate::BulkReport> answer) override;
    void readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer) override;
    void planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer) override;
    void applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                   Answer<operate::EditOutcome> answer) override;
    quint64 playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer) override;
    void cancelRun(quint64 runId) override;

signals:
    // updated() follows: who is to hear it and is not there yet has to be made now.
    void aboutToTell();
    void waitingChanged();
    // Something was to be asked of a server, or done there, in the past.
    void refused();
    // It was in a recording only.
    void connectionLeft(const lockscope::ConnectionName &name);

private:
    void take(const Batch &batch);
    void tell(const Batch &batch);
    void keep(const Batch &batch);
    void goOn();
    void takeRows();
    [[nodiscard]] Batch kept();
    [[nodiscard]] bool holdsBack() const { return m_isPaused || m_then; }
    [[nodiscard]] bool refuses();
    template <class T>
    [[nodiscard]] bool refuses(QObject *context, Answer<T> &answer);
    void tellDifference(const Shown &from, const Shown &to);

    Backend &m_backend;
    bool m_isPaused = false;
    const LocksModel *m_allLocks = nullptr;
    Shown m_present;             // while another moment is shown: what the pages showed before
    std::optional<Shown> m_then; // what they show then
    Past *m_of = nullptr;
    std::map<ConnectionName, std::vector<ZPath>> m_watchThen; // asked for meanwhile
    quint64 m_nextRefused = 1ULL << 62;                       // a hold that will never be
    std::map<ConnectionName, ConnectionStatus> m_told;        // as the pages know them
    std::map<ConnectionName, std::vector<inspect::SessionSnapshot>> m_toldSessions;
    std::map<ConnectionName, std::vector<inspect::Coverage>> m_toldCoverage;
    // What waits: the last word of each.
    std::map<inspect::LockName, inspect::SnapshotChange> m_locks;
    std::map<ConnectionName, ConnectionStatus> m_statuses;
    std::map<ConnectionName, std::vector<inspect::SessionSnapshot>> m_sessions;
    std::map<ConnectionName, std::vector<inspect::Coverage>> m_coverage;
    std::vector<operate::LogEntry> m_log;
    std::set<std::pair<ConnectionName, ZPath>> m_znodes;
};

} // namespace lockscope::ui
