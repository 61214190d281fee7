// SPDX-License-Identifier: Apache-2.0
// The Backend of a running program: a Workspace on an I/O thread of its own, its news batched to at
// most one delivery per frame, and never more than one on the way.
//
// Lives in the GUI thread; destroying it stops the I/O thread after closing what is open.
#pragma once

#include "core/workspace/backend.h"
#include "core/workspace/workspace.h"

#include <QThread>
#include <QThreadPool>

namespace lockscope {

class IoController;

class LiveBackend : public Backend {
    Q_OBJECT
public:
    explicit LiveBackend(WorkspaceOptions options, QObject *parent = nullptr);
    ~LiveBackend() override;

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

private:
    friend class IoController;
    // Runs `work` on the I/O thread.
    void onIoThread(std::function<void(IoController &)> work);
    // Wraps an answer so that it is called in the GUI thread while `context` lives.
    template <class T>
    std::function<void(Result<T>)> deliveredTo(QObject *context, Answer<T> answer);

    QThread m_thread;
    QThreadPool m_rehearsals;     // they wait for nobody, and compute for a while
    IoController *m_io = nullptr; // lives and dies in m_thread
    quint64 m_nextHold = 1;
    quint64 m_nextRun = 1;
};

} // namespace lockscope
