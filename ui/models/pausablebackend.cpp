// SPDX-License-Identifier: Apache-2.0
#include "ui/models/pausablebackend.h"

#include "ui/models/locksmodel.h"

#include <QTimer>

#include <algorithm>

namespace lockscope::ui {

namespace {

constexpr std::size_t mostLogKept = 5000; // the window keeps no more

} // namespace

PausableBackend::PausableBackend(Backend &backend, QObject *parent) : Backend(parent), m_backend(backend)
{
    connect(&backend, &Backend::updated, this, &PausableBackend::take);
    connect(&backend, &Backend::znodesChanged, this, [this](const ConnectionName &name, const ZPath &path) {
        if (holdsBack())
            m_znodes.emplace(name, path);
        else
            emit znodesChanged(name, path);
    });
    // Our own locks and runs are not looked at, they are had.
    connect(&backend, &Backend::holdChanged, this, &Backend::holdChanged);
    connect(&backend, &Backend::runProgressed, this, &Backend::runProgressed);
}

void PausableBackend::setPaused(bool paused)
{
    if (std::exchange(m_isPaused, paused) == paused || holdsBack())
        return;
    goOn();
}

void PausableBackend::goOn()
{
    take(kept());
    for (const auto &[name, path] : std::exchange(m_znodes, {}))
        emit znodesChanged(name, path);
    emit waitingChanged();
}

void PausableBackend::take(const Batch &batch)
{
    if (holdsBack()) {
        keep(batch);
        return;
    }
    for (const auto &status : batch.connections)
        m_told.insert_or_assign(status.name, status);
    for (const auto &name : batch.sessionsOf)
        m_toldSessions[name].clear();
    for (const auto &session : batch.sessions)
        m_toldSessions[session.connection].push_back(session);
    for (const auto &name : batch.coverageOf)
        m_toldCoverage[name].clear();
    for (const auto &coverage : batch.coverage)
        m_toldCoverage[coverage.connection].push_back(coverage);
    tell(batch);
}

void PausableBackend::tell(const Batch &batch)
{
    emit aboutToTell();
    emit updated(batch);
}

// --- another moment ----------------------------------------------------------------------------

Error PausableBackend::notNow()
{
    return {ErrorCode::Refused,
            tr("this is not now: it is not recorded, and nothing can be done there; go back to now first")};
}

QString PausableBackend::whyNotThere()
{
    return tr("This is not now: go back to now first");
}

void PausableBackend::showPast(PastPicture then, Past *of)
{
    if (!m_then) {
        m_present = {{}, m_told, m_toldSessions, m_toldCoverage};
        if (m_allLocks)
            takeRows();
    }
    m_of = of;
    auto next = shownOf(std::move(then), m_present.statuses);
    const auto before = std::exchange(m_then, std::move(next));
    tellDifference(before ? *before : m_present, *m_then);
}

void PausableBackend::takeRows()
{
    for (const auto *row : m_allLocks->all()) {
        if (!row->gone)
            m_present.locks.insert_or_assign(row->snapshot.lock, row->snapshot);
    }
}

void PausableBackend::leavePast()
{
    if (!m_then)
        return;
    const auto before = std::exchange(m_then, std::nullopt);
    m_of = nullptr;
    tellDifference(*before, m_present);
    m_present = {};
    for (const auto &[name, paths] : std::exchange(m_watchThen, {}))
        m_backend.watchZnodes(name, paths);
    if (!m_isPaused) {
        goOn();
        return;
    }
    // Who acts must know what became of a connection meanwhile, paused or not.
    Batch now;
    for (const auto &[name, status] : m_statuses)
        now.connections.push_back(status);
    keep(now);
}

void PausableBackend::tellDifference(const Shown &from, const Shown &to)
{
    auto batch = difference(from, to);
    batch.isJump = true;
    // What is shown of a connection that was lost is as of when it was: one that was lost at another moment came back
    // in between.
    Batch back;
    back.isJump = true;
    for (const auto &status : batch.connections) {
        const auto before = from.statuses.find(status.name);
        if (before == from.statuses.end() || before->second.asOf == status.asOf
            || status.state == ConnectionStatus::State::Connected
            || before->second.state == ConnectionStatus::State::Connected)
            continue;
        auto standing = status;
        standing.state = ConnectionStatus::State::Connected;
        back.connections.push_back(standing);
    }
    if (!back.connections.empty())
        tell(back);
    tell(batch);
    for (const auto &[name, status] : from.statuses) {
        if (!to.statuses.contains(name))
            emit connectionLeft(name);
    }
}

bool PausableBackend::refuses()
{
    if (m_then)
        emit refused();
    return m_then.has_value();
}

// What is asked of a server is answered that it is not recorded.
template <class T>
bool PausableBackend::refuses(QObject *context, Answer<T> &answer)
{
    if (!m_then)
        return false;
    QTimer::singleShot(0, context, [answer = std::move(answer)] { answer(notNow()); });
    return true;
}

void PausableBackend::keep(const Batch &batch)
{
    const int before = waiting();
    for (const auto &change : batch.locks)
        m_locks.insert_or_assign(change.lock.lock, change);
    for (const auto &name : batch.sessionsOf)
        m_sessions[name].clear();
    for (const auto &session : batch.sessions)
        m_sessions[session.connection].push_back(session);
    for (const auto &name : batch.coverageOf)
        m_coverage[name].clear();
    for (const auto &coverage : batch.coverage)
        m_coverage[coverage.connection].push_back(coverage);
    m_log.insert(m_log.end(), batch.log.begin(), batch.log.end());
    if (m_log.size() > mostLogKept)
        m_log.erase(m_log.begin(), m_log.end() - static_cast<std::ptrdiff_t>(mostLogKept));
    Batch now;
    for (const auto &status : batch.connections) {
        m_statuses.insert_or_assign(status.name, status);
        if (m_then)
            continue; // what is on screen is not of now
        const auto [told, isNew] = m_told.try_emplace(status.name, status);
        ConnectionStatus shown = told->second; // its counters and its "as of" stand still
        shown.state = status.state;
        shown.message = status.message;
        shown.production = status.production;
        shown.readOnly = status.readOnly;
        shown.readOnlyForGood = status.readOnlyForGood;
        shown.writesSent = status.writesSent;
        if (isNew || !(shown == told->second))
            now.connections.push_back(shown);
        told->second = std::move(shown);
    }
    if (!now.connections.empty())
        tell(now);
    if (waiting() != before)
        emit waitingChanged();
}

Batch PausableBackend::kept()
{
    Batch batch;
    for (auto &[name, change] : std::exchange(m_locks, {}))
        batch.locks.push_back(std::move(change));
    for (auto &[name, status] : std::exchange(m_statuses, {}))
        batch.connections.push_back(std::move(status));
    for (auto &[name, sessions] : std::exchange(m_sessions, {})) {
        batch.sessionsOf.push_back(name);
        batch.sessions.insert(batch.sessions.end(), sessions.begin(), sessions.end());
    }
    for (auto &[name, coverage] : std::exchange(m_coverage, {})) {
        batch.coverageOf.push_back(name);
        batch.coverage.insert(batch.coverage.end(), coverage.begin(), coverage.end());
    }
    batch.log = std::exchange(m_log, {});
    return batch;
}

void PausableBackend::connectTo(ConnectionSpec spec)
{
    m_backend.connectTo(std::move(spec));
}

// Nothing that was kept of it is told any more.
void PausableBackend::disconnectFrom(const ConnectionName &name)
{
    if (refuses())
        return;
    std::erase_if(m_locks, [&](const auto &entry) { return entry.first.connection == name; });
    std::erase_if(m_znodes, [&](const auto &entry) { return entry.first == name; });
    m_told.erase(name);
    m_statuses.erase(name);
    m_sessions.erase(name);
    m_coverage.erase(name);
    m_backend.disconnectFrom(name);
    emit waitingChanged();
}

void PausableBackend::retry(const ConnectionName &name)
{
    if (refuses())
        return;
    m_backend.retry(name);
}

void PausableBackend::setReadOnly(const ConnectionName &name, bool readOnly)
{
    if (refuses())
        return;
    m_backend.setReadOnly(name, readOnly);
}

void PausableBackend::setThresholds(const inspect::ThresholdRules &rules)
{
    m_backend.setThresholds(rules);
}

void PausableBackend::listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                                 Answer<std::vector<ZnodeRow>> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.listZnodes(name, path, context, std::move(answer));
}

void PausableBackend::readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                                Answer<ZnodeDetail> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.readZnode(name, path, context, std::move(answer));
}

void PausableBackend::watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths)
{
    if (m_then) {
        m_watchThen.insert_or_assign(name, paths);
        return;
    }
    m_backend.watchZnodes(name, paths);
}

void PausableBackend::scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor,
                               QObject *context, Answer<KeyPage> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.scanKeys(name, pattern, cursor, context, std::move(answer));
}

void PausableBackend::readKey(const ConnectionName &name, const RedisKey &key, QObject *context,
                              Answer<KeyDetail> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.readKey(name, key, context, std::move(answer));
}

void PausableBackend::tryConnection(const ConnectionSpec &spec, QObject *context, Answer<ConnectionAccount> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.tryConnection(spec, context, std::move(answer));
}

void PausableBackend::readSession(const ConnectionName &name, const QString &session, QObject *context,
                                  Answer<SessionDoing> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.readSession(name, session, context, std::move(answer));
}

quint64 PausableBackend::acquire(AcquireRequest request)
{
    if (refuses()) {
        Hold never;
        never.id = m_nextRefused++;
        never.request = std::move(request);
        never.state = Hold::State::Failed;
        never.message = notNow().message;
        QTimer::singleShot(0, this, [this, never] { emit holdChanged(never); });
        return never.id;
    }
    return m_backend.acquire(std::move(request));
}

void PausableBackend::release(quint64 holdId)
{
    if (refuses())
        return;
    m_backend.release(holdId);
}

void PausableBackend::planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                                       Answer<operate::ForceReleasePlan> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.planForceRelease(lock, holder, context, std::move(answer));
}

void PausableBackend::planWay(const inspect::LockName &lock, const QByteArray &contender, operate::Way way,
                              QObject *context, Answer<operate::ForceReleasePlan> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.planWay(lock, contender, way, context, std::move(answer));
}

void PausableBackend::rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer)
{
    m_backend.rehearse(std::move(plan), context, std::move(answer));
}

void PausableBackend::forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                                   Answer<operate::ForceReleaseOutcome> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.forceRelease(std::move(plan), reason, context, std::move(answer));
}

void PausableBackend::bulkRelease(std::vector<operate::BulkTarget> targets, const QString &reason, QObject *context,
                                  std::function<void(int)> progressed, Answer<operate::BulkReport> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.bulkRelease(std::move(targets), reason, context, std::move(progressed), std::move(answer));
}

void PausableBackend::readAudit(const QString &knownStamp, QObject *context, Answer<operate::AuditReport> answer)
{
    m_backend.readAudit(knownStamp, context, std::move(answer));
}

void PausableBackend::planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.planEdit(std::move(request), context, std::move(answer));
}

void PausableBackend::applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                                Answer<operate::EditOutcome> answer)
{
    if (refuses(context, answer))
        return;
    m_backend.applyEdit(std::move(plan), reason, context, std::move(answer));
}

quint64 PausableBackend::playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer)
{
    if (refuses(context, answer))
        return 0;
    return m_backend.playOnServers(std::move(options), context, std::move(answer));
}

void PausableBackend::cancelRun(quint64 runId)
{
    m_backend.cancelRun(runId);
}

} // namespace lockscope::ui

#include "moc_pausablebackend.cpp"
