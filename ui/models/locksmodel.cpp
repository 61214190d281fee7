// SPDX-License-Identifier: Apache-2.0
#include "ui/models/locksmodel.h"

#include "core/base/text.h"

namespace lockscope::ui {

using inspect::ChangeKind, inspect::LockName, inspect::LockSnapshot, inspect::SnapshotChange;

// Beyond this many places in one batch, one change of layout is cheaper for a view than so many signals.
constexpr std::size_t mostLockPlaces = 200;
constexpr std::size_t manyMoves = 32;

namespace {

// Rows that move, by what that means for who looks at them.
template <class Move>
struct MovingRows {
    LockRows all, hiding, appearing;
    std::vector<Move *> within;

    explicit MovingRows(std::vector<Move> &moves)
    {
        for (auto &move : moves) {
            all.push_back(move.entry);
            if (move.entry->shown && move.showNow)
                within.push_back(&move);
            else if (move.entry->shown)
                hiding.push_back(move.entry);
            else if (move.showNow)
                appearing.push_back(move.entry);
        }
    }
};

} // namespace

LocksModel::LocksModel(QObject *parent)
    : OrderedRows(parent, mostLockPlaces), m_clock([] { return programClock().now(); })
{
    m_columns = lockColumns(
        [this](const LockRow &row) { return row.gone ? row.goneAt : nowOf(row.snapshot.lock.connection); });
    for (const int column : {LockRow::Holder, LockRow::FindingColumn})
        m_columns[static_cast<std::size_t>(column)].values[BriefRole] = [column](const LockRow &row) {
            return row.brief(column);
        };
    m_values = {{NameRole, [](const LockRow &row) { return row.snapshot.lock.name; }}};
    m_order.rankedAt = m_clock();
}

LocksModel::~LocksModel() = default;

// What a batch of changes asks for.
struct LocksModel::Batch {
    Rows doomed;
    std::vector<Move> moves;
    std::vector<std::unique_ptr<LockRow>> fresh;
    std::vector<int> changedRows;
};

void LocksModel::apply(const std::vector<SnapshotChange> &changes)
{
    if (changes.empty())
        return;
    emit aboutToApply();
    const auto before = m_tally;
    const auto *aim = aimed();
    const int aimedRow = aim ? placeOf(*aim) : -1;
    Batch batch;
    for (const auto &change : changes)
        take(change, batch);
    reportShown(std::move(batch.changedRows));
    remove(batch.doomed);
    move(std::move(batch.moves));
    add(std::move(batch.fresh));
    if (aim)
        keepAim(*aim, aimedRow);

    if (m_tally != before)
        emit countsChanged();
    showWaitingText();
    emit applied();
    for (const auto &change : changes)
        emit snapshotChanged(change.lock.lock);
}

void LocksModel::take(const SnapshotChange &change, Batch &batch)
{
    const auto known = m_entries.find(change.lock.lock);
    if (change.kind == ChangeKind::Removed) {
        if (known != m_entries.end() && m_isHeld && (*known)->shown)
            leaveLater(**known, batch.changedRows);
        else if (known != m_entries.end())
            batch.doomed.push_back(known->get());
        return;
    }
    LockRow next(change.lock);
    next.mine = m_mine.contains(change.lock.lock);
    if (known == m_entries.end()) {
        batch.fresh.push_back(std::make_unique<LockRow>(std::move(next)));
        return;
    }
    LockRow &entry = **known;
    if (m_isHeld && !comesAtOnce(&entry, next)) {
        keepPlace(entry, std::move(next));
        if (entry.shown)
            batch.changedRows.push_back(placeOf(entry));
        return;
    }
    const bool showNow = m_filter.shows(next);
    if (!entry.gone)
        count(entry, -1);
    count(next, +1);
    m_waiting.remove(change.lock.lock);
    if (showNow != entry.shown || m_order.compare(entry, next) != 0) {
        batch.moves.push_back({&entry, std::move(next), showNow});
        return;
    }
    if (showNow)
        batch.changedRows.push_back(placeOf(entry));
    next.shown = showNow;
    entry = std::move(next);
}

void LocksModel::Move::take()
{
    next.shown = showNow;
    *entry = std::move(next);
}

void LocksModel::remove(const Rows &doomed)
{
    if (doomed.empty())
        return;
    Rows visible;
    for (auto *entry : doomed) {
        if (!entry->gone) // else it was counted when it left
            count(*entry, -1);
        m_waiting.remove(entry->snapshot.lock);
        if (entry->shown)
            visible.push_back(entry);
    }
    removeShown(visible);
    takeRows(m_all, doomed);
    for (auto *entry : doomed)
        m_entries.erase(m_entries.find(entry->snapshot.lock));
}

void LocksModel::move(std::vector<Move> moves)
{
    if (moves.empty())
        return;
    const MovingRows<Move> rows(moves);
    const auto &[moving, hiding, appearing, within] = rows;
    removeShown(hiding);
    takeRows(m_all, moving);
    if (within.size() <= manyMoves) {
        for (auto *move : within)
            moveWithin(*move);
    } else {
        rearrangeShown([&] {
            for (auto *move : within)
                move->take();
            std::sort(m_rows.begin(), m_rows.end(), m_order);
        });
        auto places = mapped<std::vector<int>>(within, [&](const auto *move) { return placeOf(*move->entry); });
        reportShown(std::move(places));
    }
    for (auto &move : moves) {
        if (move.entry->shown)
            continue; // moved already
        move.take();
        move.entry->shown = false; // until insertShown has said so
    }
    putRows(m_all, moving);
    insertShown(appearing);
}

void LocksModel::moveWithin(Move &move)
{
    const int from = placeOf(*move.entry);
    const auto self = m_rows.begin() + from;
    // The others are in order on both sides; find the new place among them.
    auto place = std::lower_bound(m_rows.begin(), self, &move.next, m_order);
    if (place == self)
        place = std::lower_bound(self + 1, m_rows.end(), &move.next, m_order);
    const int to = static_cast<int>(place - m_rows.begin());
    if (to == from || to == from + 1) {
        move.take();
        reportShown({from});
        return;
    }
    beginMoveRows({}, from, from, {}, to);
    move.take();
    if (to > from)
        std::rotate(m_rows.begin() + from, m_rows.begin() + from + 1, m_rows.begin() + to);
    else
        std::rotate(m_rows.begin() + to, m_rows.begin() + from, m_rows.begin() + from + 1);
    endMoveRows();
    reportShown({to > from ? to - 1 : to});
}

void LocksModel::add(std::vector<std::unique_ptr<LockRow>> fresh)
{
    if (fresh.empty())
        return;
    Rows all;
    Rows visible;
    for (auto &entry : fresh) {
        count(*entry, +1);
        all.push_back(entry.get());
        if (m_filter.shows(*entry) && (!m_isHeld || m_rows.empty() || comesAtOnce(nullptr, *entry)))
            visible.push_back(entry.get());
        else if (m_filter.shows(*entry))
            m_waiting.insert(entry->snapshot.lock);
        m_entries.insert(std::move(entry));
    }
    putRows(m_all, all);
    insertShown(std::move(visible));
}

void LocksModel::setChip(Chip chip)
{
    if (std::exchange(m_filter.chip, chip) != chip)
        refilter();
}

void LocksModel::setText(const QString &text)
{
    const QString wanted = text.trimmed().toLower();
    if (std::exchange(m_filter.text, wanted) != wanted)
        filterChanged();
}

void LocksModel::setConnection(const ConnectionName &connection)
{
    if (std::exchange(m_filter.connection, connection) != connection)
        filterChanged();
}

void LocksModel::filterChanged()
{
    m_tally = {};
    for (const auto *entry : m_all) {
        if (!entry->gone)
            count(*entry, +1);
    }
    refilter();
    emit countsChanged();
}

void LocksModel::setMine(QSet<LockName> mine)
{
    m_mine = std::move(mine);
    for (auto *entry : m_all) {
        const bool isMine = m_mine.contains(entry->snapshot.lock);
        if (isMine == entry->mine || entry->gone)
            continue;
        count(*entry, -1);
        entry->mine = isMine;
        count(*entry, +1);
    }
    if (m_filter.chip == Chip::Mine)
        refilter();
    emit countsChanged();
}

void LocksModel::removeConnection(const ConnectionName &connection)
{
    emit aboutToApply();
    Rows doomed;
    std::ranges::copy_if(m_all, std::back_inserter(doomed),
                         [&](const auto *entry) { return entry->snapshot.lock.connection == connection; });
    remove(doomed);
    m_frozen.erase(connection);
    showWaitingText();
    emit applied();
    emit countsChanged();
}

void LocksModel::setFrozen(const ConnectionName &connection, std::optional<SystemTime> asOf)
{
    if (asOf)
        m_frozen[connection] = *asOf;
    else
        m_frozen.erase(connection);
}

const LockSnapshot *LocksModel::snapshot(const LockName &lock) const
{
    const auto known = m_entries.find(lock);
    return known == m_entries.end() || (*known)->gone ? nullptr : &(*known)->snapshot;
}

int LocksModel::rowOf(const LockName &lock) const
{
    const auto known = m_entries.find(lock);
    return known == m_entries.end() || !(*known)->shown ? -1 : placeOf(**known);
}

void LocksModel::tick(int firstRow, int lastRow)
{
    const int last = std::min(lastRow, rowCount() - 1);
    if (firstRow < 0 || firstRow > last)
        return;
    emit dataChanged(index(firstRow, LockRow::OldestWait), index(last, LockRow::FindingColumn), {Qt::DisplayRole});
}

void LocksModel::sort(int column, Qt::SortOrder order)
{
    if (column == m_order.column && order == m_order.direction)
        return;
    reorder([this, column, order] {
        m_order.column = column;
        m_order.direction = order;
    });
}

void LocksModel::setGrouped(bool isGrouped)
{
    if (m_order.isGrouped != isGrouped)
        reorder([this, isGrouped] { m_order.isGrouped = isGrouped; });
}

void LocksModel::reorder(const std::function<void()> &change)
{
    settle();
    emit aboutToApply();
    change();
    std::sort(m_all.begin(), m_all.end(), m_order);
    sortShown();
    emit applied();
}

std::vector<int> LocksModel::groupStarts() const
{
    std::vector<int> starts;
    const auto isBefore = [](const ConnectionName &name, const LockRow *row) {
        return name.bytes() < row->snapshot.lock.connection.bytes();
    };
    for (auto row = m_rows.begin(); m_order.isGrouped && row != m_rows.end();) {
        starts.push_back(static_cast<int>(row - m_rows.begin()));
        row = std::upper_bound(row, m_rows.end(), (*row)->snapshot.lock.connection, isBefore);
    }
    return starts;
}

int LocksModel::worstRow() const
{
    auto order = m_order;
    order.isGrouped = false;
    order.column = -1;
    if (m_order.column >= 0) {
        const auto worst = std::ranges::min_element(m_rows, order);
        return worst == m_rows.end() ? -1 : static_cast<int>(worst - m_rows.begin());
    }
    // The first of each group is the worst there.
    const auto starts = m_order.isGrouped || m_rows.empty() ? groupStarts() : std::vector<int>{0};
    const auto rowAt = [this](int row) { return m_rows[static_cast<std::size_t>(row)]; };
    const auto worst = std::ranges::min_element(starts, order, rowAt);
    return worst == starts.end() ? -1 : *worst;
}

} // namespace lockscope::ui

#include "moc_locksmodel.cpp"
