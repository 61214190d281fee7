// SPDX-License-Identifier: Apache-2.0
#include "core/workspace/linkbase.h"

#include "core/base/clock.h"
#include "core/inspect/coverage.h"

namespace lockscope {

using inspect::ChangeKind;
using inspect::LockSnapshot;
using inspect::SnapshotChange;

constexpr auto confirmedEvery = 1s; // each takes some bytes of a recording

void ObserverProxy::take(inspect::Change::What change)
{
    if (auto *news = std::get_if<SnapshotChange>(&change)) {
        m_heardAt = programClock().now();
        if (m_unconfirmed.erase(news->lock.lock) > 0 && news->kind == ChangeKind::Added)
            news->kind = ChangeKind::Changed;
    } else if (auto *seen = std::get_if<inspect::CoverageSeen>(&change)) {
        m_coverage = seen->coverage;
        seen->coverage = withGap(std::move(seen->coverage));
    } else if (auto *progress = std::get_if<inspect::Progress>(&change)) {
        if (!m_what.isEmpty() && !progress->how.isEmpty())
            progress->how = m_what + QStringLiteral(", ") + progress->how;
        m_progress = *progress;
    } else if (const auto *cost = std::get_if<inspect::Cost>(&change)) {
        m_cost = *cost;
    } else if (const auto *confirmation = std::get_if<inspect::Confirmation>(&change)) {
        m_heardAt = programClock().now();
        if (confirmation->until < m_confirmedAt + confirmedEvery)
            return;
        m_confirmedAt = confirmation->until;
    }
    tell(std::move(change));
}

void ObserverProxy::addGap(const QString &message)
{
    if (std::exchange(m_gap, message) != message && !m_coverage.empty())
        tell(inspect::CoverageSeen{m_connection, withGap(m_coverage)});
}

std::vector<inspect::Coverage> ObserverProxy::withGap(std::vector<inspect::Coverage> coverage) const
{
    if (m_gap.isEmpty())
        return coverage;
    return inspect::withGap(std::move(coverage), {m_connection, false, m_gap});
}

void ObserverProxy::observerReplaced(std::vector<LockSnapshot> known)
{
    for (auto &lock : known)
        m_unconfirmed.insert_or_assign(lock.lock, std::move(lock));
}

void ObserverProxy::firstSnapshotComplete()
{
    for (auto &[name, lock] : std::exchange(m_unconfirmed, {}))
        tell(SnapshotChange{ChangeKind::Removed, std::move(lock)});
}

void ObserverProxy::takeOver(ObserverProxy &before, std::vector<LockSnapshot> known)
{
    before.observerReplaced(std::move(known));
    m_unconfirmed = std::move(before.m_unconfirmed);
    m_heardAt = before.m_heardAt;
    m_confirmedAt = before.m_confirmedAt;
}

void ObserverProxy::removeAll(std::vector<LockSnapshot> known)
{
    observerReplaced(std::move(known));
    firstSnapshotComplete();
}

void ObserverProxy::tell(inspect::Change::What change)
{
    if (m_sink)
        m_sink->take(std::move(change));
}

} // namespace lockscope
