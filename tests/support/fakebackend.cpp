// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakebackend.h"

#include "core/base/text.h"

namespace lockscope::testing {

using namespace Qt::StringLiterals;

namespace {

QString words(const ConnectionName &name)
{
    return escaped(name.bytes());
}

Error notScripted(const QString &what)
{
    return Error{ErrorCode::Server, u"%1: not scripted"_s.arg(what)};
}

} // namespace

void FakeBackend::later(QObject *context, std::function<void()> deliver)
{
    if (holdAnswers) {
        m_held.emplace_back(context, std::move(deliver));
        return;
    }
    QMetaObject::invokeMethod(context, std::move(deliver), Qt::QueuedConnection);
}

void FakeBackend::deliverAnswers()
{
    auto held = std::exchange(m_held, {});
    for (auto &[context, deliver] : held) {
        if (context)
            deliver();
    }
}

void FakeBackend::tellLocks(std::vector<inspect::SnapshotChange> changes)
{
    Batch batch;
    batch.locks = std::move(changes);
    emit updated(batch);
}

void FakeBackend::tellConnection(const ConnectionStatus &status)
{
    Batch batch;
    batch.connections = {status};
    emit updated(batch);
}

void FakeBackend::connectTo(ConnectionSpec spec)
{
    calls << u"connectTo "_s + words(spec.name);
    connected.push_back(std::move(spec));
}

void FakeBackend::disconnectFrom(const ConnectionName &name)
{
    calls << u"disconnectFrom "_s + words(name);
}

void FakeBackend::retry(const ConnectionName &name)
{
    calls << u"retry "_s + words(name);
}

void FakeBackend::setReadOnly(const ConnectionName &name, bool readOnly)
{
    calls << u"setReadOnly %1 %2"_s.arg(words(name), readOnly ? u"true"_s : u"false"_s);
}

void FakeBackend::setThresholds(const inspect::ThresholdRules &rules)
{
    calls << u"setThresholds"_s;
    thresholds = rules;
}

void FakeBackend::listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                             Answer<std::vector<ZnodeRow>> answer)
{
    calls << u"listZnodes %1 %2"_s.arg(words(name), escaped(path.bytes()));
    later(context, [this, name, path, answer] {
        answer(onListZnodes ? onListZnodes(name, path) : notScripted(u"listZnodes"_s));
    });
}

void FakeBackend::readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                            Answer<ZnodeDetail> answer)
{
    calls << u"readZnode %1 %2"_s.arg(words(name), escaped(path.bytes()));
    later(context, [this, name, path, answer] {
        answer(onReadZnode ? onReadZnode(name, path) : notScripted(u"readZnode"_s));
    });
}

void FakeBackend::watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths)
{
    QStringList list;
    for (const auto &path : paths)
        list << escaped(path.bytes());
    calls << u"watchZnodes %1 %2"_s.arg(words(name), list.join(u' '));
}

void FakeBackend::scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor, QObject *context,
                           Answer<KeyPage> answer)
{
    calls << u"scanKeys %1 %2 %3"_s.arg(words(name), escaped(pattern)).arg(cursor);
    later(context, [this, name, pattern, cursor, answer] {
        answer(onScanKeys ? onScanKeys(name, pattern, cursor) : notScripted(u"scanKeys"_s));
    });
}

void FakeBackend::readKey(const ConnectionName &name, const RedisKey &key, QObject *context, Answer<KeyDetail> answer)
{
    calls << u"readKey %1 %2"_s.arg(words(name), escaped(key.bytes()));
    later(context,
          [this, name, key, answer] { answer(onReadKey ? onReadKey(name, key) : notScripted(u"readKey"_s)); });
}

void FakeBackend::tryConnection(const ConnectionSpec &spec, QObject *context, Answer<ConnectionAccount> answer)
{
    calls << u"tryConnection %1"_s.arg(spec.displayUri());
    later(context, [this, spec, answer] {
        answer(onTryConnection ? onTryConnection(spec) : notScripted(u"tryConnection"_s));
    });
}

void FakeBackend::readSession(const ConnectionName &name, const QString &session, QObject *context,
                              Answer<SessionDoing> answer)
{
    calls << u"readSession %1 %2"_s.arg(words(name), session);
    later(context, [this, name, session, answer] {
        answer(onReadSession ? onReadSession(name, session) : notScripted(u"readSession"_s));
    });
}

quint64 FakeBackend::acquire(AcquireRequest request)
{
    calls << u"acquire %1 %2"_s.arg(escaped(request.lock.text()), escaped(request.recipe));
    lastAcquire = std::move(request);
    return m_nextHold++;
}

void FakeBackend::release(quint64 holdId)
{
    calls << u"release %1"_s.arg(holdId);
}

void FakeBackend::planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                                   Answer<operate::ForceReleasePlan> answer)
{
    calls << u"planForceRelease %1 %2"_s.arg(escaped(lock.text()), escaped(holder));
    later(context, [this, lock, holder, answer] {
        answer(onPlanForceRelease ? onPlanForceRelease(lock, holder) : notScripted(u"planForceRelease"_s));
    });
}

// It needs no server: the real one.
void FakeBackend::planWay(const inspect::LockName &lock, const QByteArray &contender, operate::Way way,
                          QObject *context, Answer<operate::ForceReleasePlan> answer)
{
    calls << u"planWay %1 %2 %3"_s.arg(escaped(lock.text()), escaped(contender),
                                       QString::number(static_cast<int>(way)));
    later(context, [this, lock, contender, way, answer] {
        answer(onPlanWay ? onPlanWay(lock, contender, way) : notScripted(u"planWay"_s));
    });
}

void FakeBackend::rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer)
{
    calls << u"rehearse %1 %2"_s.arg(escaped(plan.before.lock.text()), escaped(plan.holder));
    later(context, [plan, answer] { answer(rehearse::rehearse(plan)); });
}

void FakeBackend::forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                               Answer<operate::ForceReleaseOutcome> answer)
{
    calls << u"forceRelease %1 %2"_s.arg(escaped(plan.before.lock.text()), escaped(plan.holder));
    lastForced = plan;
    lastReason = reason;
    later(context, [this, plan, reason, answer] {
        answer(onForceRelease ? onForceRelease(plan, reason) : notScripted(u"forceRelease"_s));
    });
}

void FakeBackend::bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                              std::function<void(int)> progressed, Answer<operate::BulkReport> answer)
{
    lastBulk = targets;
    lastReason = reason;
    later(context, [this, targets, progressed, answer] {
        if (progressed)
            progressed(1);
        answer(onBulkRelease ? onBulkRelease(targets) : notScripted(u"bulkRelease"_s));
    });
}

void FakeBackend::readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer)
{
    later(context, [this, knownStamp, answer] {
        answer(onReadAudit ? onReadAudit(knownStamp) : notScripted(u"readAudit"_s));
    });
}

void FakeBackend::planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer)
{
    calls << u"planEdit %1 %2"_s.arg(operate::editWord(request.kind), escaped(request.subject().text()));
    later(context,
          [this, request, answer] { answer(onPlanEdit ? onPlanEdit(request) : notScripted(u"planEdit"_s)); });
}

void FakeBackend::applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                            Answer<operate::EditOutcome> answer)
{
    calls << u"applyEdit %1 %2"_s.arg(operate::editWord(plan.request.kind), escaped(plan.request.subject().text()));
    lastEdit = plan;
    lastReason = reason;
    later(context, [this, plan, reason, answer] {
        answer(onApplyEdit ? onApplyEdit(plan, reason) : notScripted(u"applyEdit"_s));
    });
}

quint64 FakeBackend::playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer)
{
    calls << u"playOnServers %1 %2 %3"_s.arg(words(options.connection), QString::fromLatin1(options.scenario.recipe))
                 .arg(options.scenario.contenders);
    const auto id = m_nextRun++;
    runs.emplace(id, std::move(options));
    m_runAnswers.emplace(id, std::pair(QPointer<QObject>(context), std::move(answer)));
    return id;
}

void FakeBackend::cancelRun(quint64 runId)
{
    calls << u"cancelRun %1"_s.arg(runId);
}

void FakeBackend::answerRun(quint64 id, Result<contention::Recording> result)
{
    runs.erase(id);
    auto asked = m_runAnswers.extract(id);
    if (auto &[context, answer] = asked.mapped(); context)
        answer(std::move(result));
}

} // namespace lockscope::testing

#include "moc_fakebackend.cpp"
