// SPDX-License-Identifier: Apache-2.0
// What stands between the backend and the pages, so that "Pause" stops all of them at once: while paused, news is
// kept back, counted, and told as one batch afterwards. Questions and acts go through, and so does what somebody must
// know before acting: whether a connection is there, and whether it may be written to. The observers go on looking,
// or nobody could say what is held back. GUI thread only.
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <map>
#include <set>

namespace lockscope::ui {

class PausableBackend : public Backend {
    Q_OBJECT
public:
    // `backend` outlives this.
    explicit PausableBackend(Backend &backend, QObject *parent = nullptr);

    void setPaused(bool paused);
    // How many locks changed since.
    [[nodiscard]] int waiting() const { return static_cast<int>(m_locks.size()); }

    void connectTo(ConnectionSpec spec) override;
    void disconnectFrom(const ConnectionName &name) override;
    void retry(const ConnectionName &name) override;
    void setReadOnly(const ConnectionName &name, bool readOnly) override;
    void listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                    Answer<std::vector<ZnodeRow>> answer) override;
    void readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                   Answer<ZnodeDetail> answer) override;
    void watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths) override;
    void scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor, QObject *context,
                  Answer<KeyPage> answer) override;
    void readKey(const ConnectionName &name, const RedisKey &key, QObject *context,
                 Answer<KeyDetail> answer) override;
    quint64 acquire(AcquireRequest request) override;
    void release(quint64 holdId) override;
    void planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                          Answer<operate::ForceReleasePlan> answer) override;
    void rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer) override;
    void forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                      Answer<operate::ForceReleaseOutcome> answer) override;
    void planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer) override;
    void applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                   Answer<operate::EditOutcome> answer) override;
    quint64 playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer) override;
    void cancelRun(quint64 runId) override;

signals:
    void waitingChanged();

private:
    void take(const Batch &batch);
    void keep(const Batch &batch);
    [[nodiscard]] Batch kept();

    Backend &m_backend;
    bool m_isPaused = false;
    std::map<ConnectionName, ConnectionStatus> m_told; // as the pages know them
    // What waits: the last word of each.
    std::map<inspect::LockName, inspect::SnapshotChange> m_locks;
    std::map<ConnectionName, ConnectionStatus> m_statuses;
    std::map<ConnectionName, std::vector<inspect::SessionSnapshot>> m_sessions;
    std::map<ConnectionName, std::vector<inspect::Coverage>> m_coverage;
    std::vector<operate::LogEntry> m_log;
    std::set<std::pair<ConnectionName, ZPath>> m_znodes;
};

} // namespace lockscope::ui
