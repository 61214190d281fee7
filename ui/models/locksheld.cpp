// SPDX-License-Identifier: Apache-2.0
// The order of the rows: how it is held while somebody aims at one, and how it is settled.
#include "ui/models/locksmodel.h"

#include <algorithm>

namespace lockscope::ui {

using inspect::LockName;
using inspect::Severity;

void LocksModel::setOrderHeld(bool held)
{
    if (std::exchange(m_isHeld, held) == held || held)
        return;
    settle();
}

// Its cells say what is the case now; it stands where it stood.
void LocksModel::keepPlace(LockRow &entry, LockRow next)
{
    const auto &lock = entry.snapshot.lock;
    const bool showNow = m_filter.shows(next);
    if (showNow != entry.shown || (showNow && m_order.compare(entry, next) != 0))
        m_waiting.insert(lock);
    else
        m_waiting.remove(lock);
    if (!entry.gone)
        count(entry, -1);
    count(next, +1);
    next.heldFacts = std::make_unique<LockFacts>(entry.orderedBy());
    next.shown = entry.shown;
    entry = std::move(next);
}

void LocksModel::leaveLater(LockRow &entry, std::vector<int> &changedRows)
{
    if (entry.gone)
        return;
    count(entry, -1);
    entry.gone = true;
    entry.goneAt = nowOf(entry.snapshot.lock.connection);
    m_waiting.insert(entry.snapshot.lock);
    changedRows.push_back(position(m_shown, entry));
}

void LocksModel::sayWaiting()
{
    Waiting waiting;
    Rows changed;
    for (const auto &lock : std::as_const(m_waiting))
        if (const auto known = m_entries.find(lock); known != m_entries.end())
            changed.push_back(known->get());
    for (const auto *row : unsettled(m_shown, changed, m_order, m_filter)) {
        ++waiting.rows;
        waiting.fresh += row->shown ? 0 : 1;
        waiting.critical += !row->gone && row->facts.worst == Severity::Critical ? 1 : 0;
    }
    waiting.rows = std::max(waiting.rows, m_rankWaits ? 1 : 0);
    if (std::exchange(m_waitingSaid, waiting) != waiting)
        emit waitingChanged();
}

void LocksModel::rank()
{
    auto present = m_order;
    present.rankedAt = m_clock();
    if (m_isHeld) {
        if (present.column < 0 && !m_rankWaits && !std::is_sorted(m_shown.begin(), m_shown.end(), present)) {
            m_rankWaits = true;
            sayWaiting();
        }
        return;
    }
    m_order = present;
    if (m_order.column >= 0 || std::is_sorted(m_all.begin(), m_all.end(), m_order))
        return;
    emit aboutToApply();
    std::sort(m_all.begin(), m_all.end(), m_order);
    if (!std::is_sorted(m_shown.begin(), m_shown.end(), m_order))
        rearrangeShown([&] { std::sort(m_shown.begin(), m_shown.end(), m_order); });
    emit applied();
}

// Whoever left leaves, everybody stands where it belongs, and what passes the filter is shown.
void LocksModel::refilter()
{
    emit aboutToApply();
    Rows doomed;
    bool kept = m_rankWaits;
    for (auto *entry : m_all) {
        kept |= entry->heldFacts != nullptr;
        if (entry->gone)
            doomed.push_back(entry);
    }
    remove(doomed); // found by the order the rows are in still
    if (m_rankWaits)
        m_order.rankedAt = m_clock();
    if (kept) {
        for (auto *entry : m_all)
            entry->heldFacts.reset();
        std::sort(m_all.begin(), m_all.end(), m_order);
        if (!std::is_sorted(m_shown.begin(), m_shown.end(), m_order))
            rearrangeShown([&] { std::sort(m_shown.begin(), m_shown.end(), m_order); });
    }
    m_rankWaits = false;
    m_waiting.clear();
    Rows hiding;
    Rows appearing;
    for (auto *entry : m_all) {
        const bool showNow = m_filter.shows(*entry);
        if (entry->shown && !showNow)
            hiding.push_back(entry);
        else if (!entry->shown && showNow)
            appearing.push_back(entry);
    }
    removeShown(hiding);
    insertShown(std::move(appearing));
    sayWaiting();
    emit applied();
}

} // namespace lockscope::ui
