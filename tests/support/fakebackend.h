// SPDX-License-Identifier: Apache-2.0
// A Backend that a test plays: it notes every call, answers as the test says, and tells what the
// test tells it. Answers come through the event loop, as the live one's do; with holdAnswers they
// wait until deliverAnswers().
#pragma once

#include <version>

#include "core/workspace/backend.h"

#include <QPointer>

#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace lockscope::testing {

class FakeBackend : public Backend {
    Q_OBJECT
public:
    explicit FakeBackend(QObject *parent = nullptr) : Backend(parent) {}

    // Every call in order, as words: "listZnodes zk /locks", "release 3", "setReadOnly zk false".
    QStringList calls;
    [[nodiscard]] bool wasCalled(const QString &words) const { return calls.contains(words); }

    // How questions are answered. The default is an error "not scripted".
    std::function<Result<std::vector<ZnodeRow>>(const ConnectionName &, const ZPath &)> onListZnodes;
    std::function<Result<ZnodeDetail>(const ConnectionName &, const ZPath &)> onReadZnode;
    std::function<Result<KeyPage>(const ConnectionName &, const QByteArray &, quint64)> onScanKeys;
    std::function<Result<KeyDetail>(const ConnectionName &, const RedisKey &)> onReadKey;
    std::function<Result<SessionDoing>(const ConnectionName &, const QString &)> onReadSession;
    std::function<Result<operate::ForceReleasePlan>(const inspect::LockName &, const QByteArray &)>
        onPlanForceRelease;
    std::function<Result<operate::ForceReleaseOutcome>(const operate::ForceReleasePlan &, const QString &)>
        onForceRelease;
    std::function<Result<operate::EditPlan>(const operate::EditRequest &)> onPlanEdit;
    std::function<Result<operate::EditOutcome>(const operate::EditPlan &, const QString &)> onApplyEdit;
    std::optional<operate::EditPlan> lastEdit; // applied

    std::optional<inspect::ThresholdRules> thresholds; // as last set
    std::function<Result<operate::ForceReleasePlan>(const inspect::LockName &, const QByteArray &, operate::Way)>
        onPlanWay;

    std::function<Result<operate::BulkReport>(const std::vector<operate::BulkTarget> &)> onBulkRelease;
    std::vector<operate::BulkTarget> lastBulk;
    std::function<Result<operate::AuditReport>(const QString &)> onReadAudit;

    // What acquire() and forceRelease() were last asked.
    std::optional<AcquireRequest> lastAcquire;
    // The runs that were asked for and not answered yet, by id; answerRun() does it.
    std::map<quint64, RealRunOptions> runs;
    void answerRun(quint64 id, Result<contention::Recording> result);
    std::optional<operate::ForceReleasePlan> lastForced;
    QString lastReason;
    std::vector<ConnectionSpec> connected;

    // What was recorded; null: nothing is.
    Past *recorded = nullptr;
    [[nodiscard]] Past *past() override { return recorded; }
    std::vector<inspect::ClientLabel> labels;
    [[nodiscard]] std::vector<inspect::ClientLabel> clientLabels() const override { return labels; }
    void setClientLabels(std::vector<inspect::ClientLabel> changed) override { labels = std::move(changed); }

    bool holdAnswers = false;
    void deliverAnswers();
    [[nodiscard]] qsizetype waitingAnswers() const { return static_cast<qsizetype>(m_held.size()); }

    // What the live backend would tell.
    void tell(const Batch &batch) { emit updated(batch); }
    void tellLocks(std::vector<inspect::SnapshotChange> changes);
    void tellConnection(const ConnectionStatus &status);
    void tellHold(const Hold &hold) { emit holdChanged(hold); }
    void tellRun(quint64 id, const RealRunProgress &progress) { emit runProgressed(id, progress); }
    void tellZnodesChanged(const ConnectionName &name, const ZPath &path) { emit znodesChanged(name, path); }

    void connectTo(ConnectionSpec spec) override;
    std::function<Result<ConnectionAccount>(const ConnectionSpec &)> onTryConnection;
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
    void bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                     std::function<void(int)> progressed, Answer<operate::BulkReport> answer) override;
    void readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer) override;
    void planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer) override;
    void applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                   Answer<operate::EditOutcome> answer) override;
    quint64 playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer) override;
    void cancelRun(quint64 runId) override;

private:
    void later(QObject *context, std::function<void()> deliver);

    std::deque<std::pair<QPointer<QObject>, std::function<void()>>> m_held;
    quint64 m_nextHold = 1;
    quint64 m_nextRun = 1;
    std::map<quint64, std::pair<QPointer<QObject>, Answer<contention::Recording>>> m_runAnswers;
};

} // namespace lockscope::testing
