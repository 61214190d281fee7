// SPDX-License-Identifier: Apache-2.0
// The order of the rows: how it is held while somebody aims at one, and how it is settled.
#include "ui/models/locksmodel.h"

namespace lockscope::ui {

using inspect::Severity;

namespace {

LocksModel::Waiting waitingOf(const LockRows &waitingRows)
{
    LocksModel::Waiting waiting;
    for (const auto *row : waitingRows) {
        ++waiting.rows;
        waiting.fresh += row->shown ? 0 : 1;
        waiting.critical += !row->gone && row->facts.worst == Severity::Critical ? 1 : 0;
    }
    return waiting;
}

bool turnsCritical(const LockRow *entry, const LockRow &next)
{
    const bool wasCritical = entry && entry->shown && entry->orderedBy().worst == Severity::Critical;
    return next.facts.worst == Severity::Critical && !wasCritical;
}

// Where the rows end that stand behind this one, which is at `at`, and how many they are.
std::pair<int, int> endBehind(const LockRows &rows, const LockRow &row, int at)
{
    auto next = rows.begin() + at + 1;
    int behind = row.behind();
    for (; next != rows.end() && (*next)->standsBehind(row); ++next)
        behind = (*next)->behind();
    return {static_cast<int>(next - rows.begin()), behind};
}

// Those that are shown and should not be, and those that should be.
std::pair<LockRows, LockRows> shownWrongly(const LockRows &rows, const LockFilter &filter)
{
    LockRows hiding, appearing;
    for (auto *row : rows) {
        const bool showNow = filter.shows(*row);
        if (row->shown && !showNow)
            hiding.push_back(row);
        else if (!row->shown && showNow)
            appearing.push_back(row);
    }
    return {hiding, appearing};
}

} // namespace

void LocksModel::setOrderHeld(bool held)
{
    if (std::exchange(m_isHeld, held) && !held)
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
    next.held = std::make_unique<LockRow::HeldPlace>(entry.orderedBy(), entry.orderedAs(), entry.behind());
    next.shown = entry.shown;
    entry = std::move(next);
}

// What is critical from now on does not wait: it comes on top. Only the row that is aimed at stays where it is.
bool LocksModel::comesAtOnce(const LockRow *entry, const LockRow &next) const
{
    return m_isHeld && m_order.column < 0 && turnsCritical(entry, next) && m_filter.shows(next)
           && (!entry || entry != aimed());
}

LockRow *LocksModel::aimed() const
{
    const int row = m_isHeld && m_aim ? m_aim() : -1;
    return row >= 0 && row < rowCount() ? m_rows[static_cast<std::size_t>(row)] : nullptr;
}

// Rows came in above the one that is aimed at: as many go below it, and it is where it was.
void LocksModel::keepAim(const LockRow &aim, int row)
{
    for (int at = placeOf(aim); at > row; --at) {
        auto *above = m_rows[static_cast<std::size_t>(at - 1)];
        const auto [to, behind] = endBehind(m_rows, aim, at);
        beginMoveRows({}, at - 1, at - 1, {}, to);
        takeRows(m_all, {above});
        above->held = std::make_unique<LockRow::HeldPlace>(aim.orderedBy(), aim.orderedAs(), behind + 1);
        putRows(m_all, {above});
        std::rotate(m_rows.begin() + at - 1, m_rows.begin() + at, m_rows.begin() + to);
        endMoveRows();
        m_waiting.insert(above->snapshot.lock);
    }
}

void LocksModel::leaveLater(LockRow &entry, std::vector<int> &changedRows)
{
    if (entry.gone)
        return;
    count(entry, -1);
    entry.gone = true;
    entry.goneAt = nowOf(entry.snapshot.lock.connection);
    m_waiting.insert(entry.snapshot.lock);
    changedRows.push_back(placeOf(entry));
}

// Of the rows that changed since the others were put in order: those that leave, those that are not shown yet, and
// those that do not belong between their neighbors any more.
LocksModel::Rows LocksModel::unsettled(const Rows &changed) const
{
    Rows all;
    std::vector<int> places;
    const auto stays = [this](const LockRow &row) { return !row.gone && row.shown == m_filter.shows(row); };
    for (auto *row : changed) {
        if (!stays(*row))
            all.push_back(row);
        if (row->shown)
            places.push_back(placeOf(*row));
    }
    std::ranges::sort(places);
    const auto rowAt = [this](int place) {
        return place >= 0 && place < rowCount() ? m_rows[static_cast<std::size_t>(place)] : nullptr;
    };
    for (auto first = places.begin(); first != places.end();) {
        auto end = first; // of those that stand beside each other
        while (end != places.end() && *end - *first == end - first)
            ++end;
        const auto *before = rowAt(*first - 1);
        const auto *after = rowAt(*std::prev(end) + 1);
        for (; first != end; ++first) {
            auto *row = rowAt(*first);
            if (!stays(*row))
                continue;
            const bool isInPlace = (!before || m_order.compareNow(*before, *row) < 0)
                                   && (!after || m_order.compareNow(*row, *after) < 0);
            if (isInPlace)
                before = row;
            else
                all.push_back(row);
        }
    }
    return all;
}

void LocksModel::showWaitingText()
{
    Rows changed;
    for (const auto &lock : std::as_const(m_waiting))
        if (const auto known = m_entries.find(lock); known != m_entries.end())
            changed.push_back(known->get());
    auto waiting = waitingOf(unsettled(changed));
    waiting.rows = std::max(waiting.rows, m_rankWaits ? 1 : 0);
    if (std::exchange(m_waitingSaid, waiting) != waiting)
        emit waitingChanged();
}

void LocksModel::rank()
{
    auto present = m_order;
    present.rankedAt = m_clock();
    if (m_isHeld) {
        if (present.column < 0 && !m_rankWaits && !std::is_sorted(m_rows.begin(), m_rows.end(), present)) {
            m_rankWaits = true;
            showWaitingText();
        }
        return;
    }
    m_order = present;
    if (m_order.column >= 0 || std::is_sorted(m_all.begin(), m_all.end(), m_order))
        return;
    emit aboutToApply();
    std::sort(m_all.begin(), m_all.end(), m_order);
    if (!std::is_sorted(m_rows.begin(), m_rows.end(), m_order))
        sortShown();
    emit applied();
}

// Whoever left leaves, everybody stands where it belongs, and what passes the filter is shown.
void LocksModel::refilter()
{
    emit aboutToApply();
    Rows doomed;
    bool kept = m_rankWaits;
    for (auto *entry : m_all) {
        kept |= entry->held != nullptr;
        if (entry->gone)
            doomed.push_back(entry);
    }
    remove(doomed); // found by the order the rows are in still
    if (m_rankWaits)
        m_order.rankedAt = m_clock();
    if (kept) {
        for (auto *entry : m_all)
            entry->held.reset();
        std::sort(m_all.begin(), m_all.end(), m_order);
        if (!std::is_sorted(m_rows.begin(), m_rows.end(), m_order))
            sortShown();
    }
    m_rankWaits = false;
    m_waiting.clear();
    const auto [hiding, appearing] = shownWrongly(m_all, m_filter);
    removeShown(hiding);
    insertShown(appearing);
    showWaitingText();
    emit applied();
}

} // namespace lockscope::ui
