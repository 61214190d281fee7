// SPDX-License-Identifier: Apache-2.0
// The Backend of a running program: a Workspace on an I/O thread of its own, its news batched to at
// most one delivery per frame, and never more than one on the way.
//
// Lives in the GUI thread; destroying it stops the I/O thread after closing what is open.
#pragma once

#include "core/async/workers.h"
#include "core/history/flightrecorder.h"
#include "core/workspace/backend.h"
#include "core/workspace/past.h"
#include "core/workspace/workspace.h"

#include <QThread>

namespace lockscope {

class IoController;

class LiveBackend : public Backend {
    Q_OBJECT
public:
    // Without `recorder` nothing is recorded.
    explicit LiveBackend(WorkspaceOptions options, std::optional<history::FlightOptions> recorder = {},
                         QObject *parent = nullptr);
    ~LiveBackend() override;

    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return m_labels; }
    void setClientLabels(std::vector<inspect::ClientLabel> labels) override;
    void connectTo(ConnectionSpec spec) override;
    void tryConnection(const ConnectionSpec &spec, QObject *context, Answer<ConnectionAccount> answer) override;
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

    [[nodiscard]] Past *past() override { return m_past.get(); }
    void bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                     std::function<void(int)> progressed, Answer<operate::BulkReport> answer) override;
    void readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer) override;

    void planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer) override;
    void applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                   Answer<operate::EditOutcome> answer) override;
    quint64 playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer) override;
    void cancelRun(quint64 runId) override;

private:
    friend class IoController;
    // Runs `work` on the I/O thread.
    void onIoThread(std::function<void(IoController &)> work);
    // Wraps an answer so that it is called in the GUI thread while `context` lives.
    template <class T>
    std::function<void(Result<T>)> deliveredTo(QObject *context, Answer<T> answer);

    std::unique_ptr<Past> m_past; // reads what the I/O side records
    std::vector<inspect::ClientLabel> m_labels;
    QThread m_thread;
    const QString m_auditPath;
    Workers m_rehearsals{2};      // they wait for nobody, and compute for a while
    Workers m_readers{2};         // of files
    IoController *m_io = nullptr; // lives and dies in m_thread
    quint64 m_nextHold = 1;
    quint64 m_nextRun = 1;
};

} // namespace lockscope
