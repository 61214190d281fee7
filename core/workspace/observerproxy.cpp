// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/linkbase.h"

#include "core/base/clock.h"
#include "core/inspect/coverage.h"

namespace lockscope {

using inspect::ChangeKind;
using inspect::SnapshotChange;

void ObserverProxy::locksChanged(std::vector<SnapshotChange> changes)
{
    std::vector<SnapshotChange> news;
    for (auto &change : changes) {
        const auto &name = change.lock.lock;
        const bool wasKnown = m_known.contains(name) || m_unconfirmed.contains(name);
        m_unconfirmed.erase(name);
        if (change.kind == ChangeKind::Removed) {
            m_known.erase(name);
            if (!wasKnown)
                continue;
        } else {
            change.kind = wasKnown ? ChangeKind::Changed : ChangeKind::Added;
            m_known[name] = change.lock;
        }
        news.push_back(std::move(change));
    }
    m_heardAt = programClock().now();
    tell(std::move(news));
}

void ObserverProxy::sessionsChanged(const ConnectionName &connection, std::vector<inspect::SessionSnapshot> sessions)
{
    if (m_sink)
        m_sink->sessionsChanged(connection, std::move(sessions));
}

void ObserverProxy::coverageChanged(const ConnectionName &, std::vector<inspect::Coverage> coverage)
{
    m_coverage = std::move(coverage);
    tellCoverage();
}

void ObserverProxy::addGap(const QString &message)
{
    if (std::exchange(m_gap, message) != message && !m_coverage.empty())
        tellCoverage();
}

std::vector<inspect::Coverage> ObserverProxy::withGap(std::vector<inspect::Coverage> coverage) const
{
    if (m_gap.isEmpty())
        return coverage;
    return inspect::withGap(std::move(coverage), {m_connection, false, m_gap});
}

void ObserverProxy::tellCoverage()
{
    if (m_sink)
        m_sink->coverageChanged(m_connection, withGap(m_coverage));
}

void ObserverProxy::progressed(inspect::Progress progress)
{
    if (!m_what.isEmpty() && !progress.how.isEmpty())
        progress.how = m_what + QStringLiteral(", ") + progress.how;
    m_progress = progress;
    if (m_sink)
        m_sink->progressed(std::move(progress));
}

void ObserverProxy::costChanged(const ConnectionName &connection, inspect::Cost cost)
{
    m_cost = cost;
    if (m_sink)
        m_sink->costChanged(connection, cost);
}

void ObserverProxy::looked(const ConnectionName &connection)
{
    m_heardAt = m_lookedAt = programClock().now();
    if (m_sink)
        m_sink->looked(connection);
}

void ObserverProxy::observerReplaced()
{
    m_unconfirmed.merge(m_known);
    m_known.clear();
}

void ObserverProxy::firstSnapshotComplete()
{
    std::vector<SnapshotChange> gone;
    for (auto &[name, snapshot] : m_unconfirmed)
        gone.push_back({ChangeKind::Removed, std::move(snapshot)});
    m_unconfirmed.clear();
    tell(std::move(gone));
}

void ObserverProxy::takeOver(ObserverProxy &before)
{
    before.observerReplaced();
    m_unconfirmed = std::move(before.m_unconfirmed);
    m_heardAt = before.m_heardAt;
    m_lookedAt = before.m_lookedAt;
}

void ObserverProxy::removeAll()
{
    observerReplaced();
    firstSnapshotComplete();
}

void ObserverProxy::tell(std::vector<SnapshotChange> changes)
{
    if (m_sink && !changes.empty())
        m_sink->locksChanged(std::move(changes));
}

} // namespace lockscope
