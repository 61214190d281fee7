// SPDX-License-Identifier: Apache-2.0
#include "ui/models/pausablebackend.h"

#include <algorithm>

namespace lockscope::ui {

namespace {

constexpr std::size_t mostLogKept = 5000; // the window keeps no more

} // namespace

PausableBackend::PausableBackend(Backend &backend, QObject *parent) : Backend(parent), m_backend(backend)
{
    connect(&backend, &Backend::updated, this, &PausableBackend::take);
    connect(&backend, &Backend::znodesChanged, this, [this](const ConnectionName &name, const ZPath &path) {
        if (m_isPaused)
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
    if (std::exchange(m_isPaused, paused) == paused || paused)
        return;
    take(kept());
    for (const auto &[name, path] : std::exchange(m_znodes, {}))
        emit znodesChanged(name, path);
    emit waitingChanged();
}

void PausableBackend::take(const Batch &batch)
{
    if (m_isPaused) {
        keep(batch);
        return;
    }
    for (const auto &status : batch.connections)
        m_told.insert_or_assign(status.name, status);
    emit updated(batch);
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
        emit updated(now);
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
    m_backend.retry(name);
}

void PausableBackend::setReadOnly(const ConnectionName &name, bool readOnly)
{
    m_backend.setReadOnly(name, readOnly);
}

void PausableBackend::listZnodes(const ConnectionName &name, const ZPath &path, QObject *context,
                                 Answer<std::vector<ZnodeRow>> answer)
{
    m_backend.listZnodes(name, path, context, std::move(answer));
}

void PausableBackend::readZnode(const ConnectionName &name, const ZPath &path, QObject *context,
                                Answer<ZnodeDetail> answer)
{
    m_backend.readZnode(name, path, context, std::move(answer));
}

void PausableBackend::watchZnodes(const ConnectionName &name, const std::vector<ZPath> &paths)
{
    m_backend.watchZnodes(name, paths);
}

void PausableBackend::scanKeys(const ConnectionName &name, const QByteArray &pattern, quint64 cursor,
                               QObject *context, Answer<KeyPage> answer)
{
    m_backend.scanKeys(name, pattern, cursor, context, std::move(answer));
}

void PausableBackend::readKey(const ConnectionName &name, const RedisKey &key, QObject *context,
                              Answer<KeyDetail> answer)
{
    m_backend.readKey(name, key, context, std::move(answer));
}

quint64 PausableBackend::acquire(AcquireRequest request)
{
    return m_backend.acquire(std::move(request));
}

void PausableBackend::release(quint64 holdId)
{
    m_backend.release(holdId);
}

void PausableBackend::planForceRelease(const inspect::LockName &lock, const QByteArray &holder, QObject *context,
                                       Answer<operate::ForceReleasePlan> answer)
{
    m_backend.planForceRelease(lock, holder, context, std::move(answer));
}

void PausableBackend::rehearse(operate::ForceReleasePlan plan, QObject *context, Answer<rehearse::Rehearsal> answer)
{
    m_backend.rehearse(std::move(plan), context, std::move(answer));
}

void PausableBackend::forceRelease(operate::ForceReleasePlan plan, const QString &reason, QObject *context,
                                   Answer<operate::ForceReleaseOutcome> answer)
{
    m_backend.forceRelease(std::move(plan), reason, context, std::move(answer));
}

void PausableBackend::planEdit(operate::EditRequest request, QObject *context, Answer<operate::EditPlan> answer)
{
    m_backend.planEdit(std::move(request), context, std::move(answer));
}

void PausableBackend::applyEdit(operate::EditPlan plan, const QString &reason, QObject *context,
                                Answer<operate::EditOutcome> answer)
{
    m_backend.applyEdit(std::move(plan), reason, context, std::move(answer));
}

quint64 PausableBackend::playOnServers(RealRunOptions options, QObject *context, Answer<contention::Recording> answer)
{
    return m_backend.playOnServers(std::move(options), context, std::move(answer));
}

void PausableBackend::cancelRun(quint64 runId)
{
    m_backend.cancelRun(runId);
}

} // namespace lockscope::ui
