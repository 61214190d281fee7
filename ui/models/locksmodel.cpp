// SPDX-License-Identifier: Apache-2.0
#include "ui/models/locksmodel.h"

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/models/orderedrows.h"
#include "ui/models/rowdelta.h"
#include "ui/models/wholetext.h"
#include "ui/theme/text.h"

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using inspect::ChangeKind, inspect::LockName, inspect::LockSnapshot, inspect::SnapshotChange;

// Beyond this many places in one batch, one change of layout is cheaper for a view than so many signals.
constexpr std::size_t scatteredPlaces = 200;
constexpr std::size_t manyMoves = 32;

namespace {

// Within one batch only the last word about a lock counts. The latest comes first.
std::vector<const SnapshotChange *> lastWords(const std::vector<SnapshotChange> &changes)
{
    std::unordered_map<LockName, const SnapshotChange *, ByLockName> last;
    std::vector<const SnapshotChange *> order;
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
        if (last.try_emplace(change->lock.lock, &*change).second)
            order.push_back(&*change);
    }
    return order;
}

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

QString toolTipOf(const LockSnapshot &lock)
{
    return plainToolTip(label(lock.lock.text(), 1500) + u'\n' + label(lock.why.toUtf8(), 400));
}

} // namespace

LocksModel::LocksModel(QObject *parent) : QAbstractTableModel(parent), m_clock([] { return programClock().now(); })
{
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
    const auto order = lastWords(changes);
    const auto before = m_tally;
    const auto *aim = aimed();
    const int aimedRow = aim ? position(m_shown, *aim) : -1;
    Batch batch;
    for (auto it = order.rbegin(); it != order.rend(); ++it)
        take(**it, batch);
    emitRanges(std::move(batch.changedRows));
    remove(batch.doomed);
    move(std::move(batch.moves));
    add(std::move(batch.fresh));
    if (aim)
        keepAim(*aim, aimedRow);

    if (m_tally != before)
        emit countsChanged();
    sayWaiting();
    emit applied();
    for (const auto *change : order)
        emit snapshotChanged(change->lock.lock);
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
            batch.changedRows.push_back(position(m_shown, entry));
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
        batch.changedRows.push_back(position(m_shown, entry));
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
    takeRows(m_all, doomed, m_order);
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
    takeRows(m_all, moving, m_order);
    if (within.size() <= manyMoves) {
        for (auto *move : within)
            moveWithin(*move);
    } else {
        rearrangeShown([&] {
            for (auto *move : within)
                move->take();
            std::sort(m_shown.begin(), m_shown.end(), m_order);
        });
        std::vector<int> places;
        for (const auto *move : within)
            places.push_back(position(m_shown, *move->entry));
        emitRanges(std::move(places));
    }
    for (auto &move : moves) {
        if (move.entry->shown)
            continue; // moved already
        move.take();
        move.entry->shown = false; // until insertShown has said so
    }
    putRows(m_all, moving, m_order);
    insertShown(appearing);
}

void LocksModel::moveWithin(Move &move)
{
    const int from = position(m_shown, *move.entry);
    const auto self = m_shown.begin() + from;
    // The others are in order on both sides; find the new place among them.
    auto place = std::lower_bound(m_shown.begin(), self, &move.next, m_order);
    if (place == self)
        place = std::lower_bound(self + 1, m_shown.end(), &move.next, m_order);
    const int to = static_cast<int>(place - m_shown.begin());
    if (to == from || to == from + 1) {
        move.take();
        emitRanges({from});
        return;
    }
    beginMoveRows({}, from, from, {}, to);
    move.take();
    if (to > from)
        std::rotate(m_shown.begin() + from, m_shown.begin() + from + 1, m_shown.begin() + to);
    else
        std::rotate(m_shown.begin() + to, m_shown.begin() + from, m_shown.begin() + from + 1);
    endMoveRows();
    emitRanges({to > from ? to - 1 : to});
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
        if (m_filter.shows(*entry) && (!m_isHeld || m_shown.empty() || comesAtOnce(nullptr, *entry)))
            visible.push_back(entry.get());
        else if (m_filter.shows(*entry))
            m_waiting.insert(entry->snapshot.lock);
        m_entries.insert(std::move(entry));
    }
    putRows(m_all, all, m_order);
    insertShown(std::move(visible));
}

void LocksModel::removeShown(const Rows &doomed)
{
    if (doomed.empty())
        return;
    std::vector<int> rows;
    for (auto *entry : doomed)
        rows.push_back(position(m_shown, *entry));
    std::sort(rows.begin(), rows.end());
    auto ranges = rangesOf(rows);
    if (ranges.size() > scatteredPlaces) {
        for (auto *entry : doomed)
            entry->leaving = true;
        rearrangeShown([this] {
            std::stable_partition(m_shown.begin(), m_shown.end(),
                                  [](const LockRow *entry) { return !entry->leaving; });
        });
        for (auto *entry : doomed)
            entry->leaving = false;
        const int total = static_cast<int>(m_shown.size());
        ranges = {{total - static_cast<int>(doomed.size()), total - 1}};
    }
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
        beginRemoveRows({}, range->first, range->last);
        for (int row = range->first; row <= range->last; ++row)
            m_shown[static_cast<std::size_t>(row)]->shown = false;
        m_shown.erase(m_shown.begin() + range->first, m_shown.begin() + range->last + 1);
        endRemoveRows();
    }
}

void LocksModel::insertShown(Rows fresh)
{
    if (fresh.empty())
        return;
    std::sort(fresh.begin(), fresh.end(), m_order);
    auto groups = placesOf(m_shown, fresh, m_order);
    const bool scattered = groups.size() > scatteredPlaces;
    const auto middle = static_cast<std::ptrdiff_t>(m_shown.size());
    if (scattered)
        groups = {{static_cast<int>(middle), 0, fresh.size()}};
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        const auto from = fresh.begin() + static_cast<std::ptrdiff_t>(group->first);
        const auto upTo = from + static_cast<std::ptrdiff_t>(group->count);
        beginInsertRows({}, group->at, group->at + static_cast<int>(group->count) - 1);
        m_shown.insert(m_shown.begin() + group->at, from, upTo);
        std::for_each(from, upTo, [](LockRow *entry) { entry->shown = true; });
        endInsertRows();
    }
    if (scattered)
        rearrangeShown(
            [&] { std::inplace_merge(m_shown.begin(), m_shown.begin() + middle, m_shown.end(), m_order); });
}

void LocksModel::rearrangeShown(const std::function<void()> &rearrange)
{
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<LockRow *> kept;
    for (const auto &index : before)
        kept.push_back(m_shown[static_cast<std::size_t>(index.row())]);
    rearrange();
    if (!before.isEmpty()) {
        for (std::size_t row = 0; row < m_shown.size(); ++row)
            m_shown[row]->row = static_cast<int>(row);
    }
    QModelIndexList after;
    for (std::size_t i = 0; i < kept.size(); ++i)
        after << index(kept[i]->row, before[static_cast<qsizetype>(i)].column());
    changePersistentIndexList(before, after);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void LocksModel::emitRanges(std::vector<int> rows)
{
    std::sort(rows.begin(), rows.end());
    for (const auto &range : rangesOf(rows, 8))
        emit dataChanged(index(range.first, 0), index(range.last, LockRow::ColumnCount - 1));
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
    sayWaiting();
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

const LockSnapshot &LocksModel::snapshotAt(int row) const
{
    return m_shown[static_cast<std::size_t>(row)]->snapshot;
}

const LockFacts &LocksModel::factsAt(int row) const
{
    return m_shown[static_cast<std::size_t>(row)]->facts;
}

int LocksModel::rowOf(const LockName &lock) const
{
    const auto known = m_entries.find(lock);
    return known == m_entries.end() || !(*known)->shown ? -1 : position(m_shown, **known);
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
    settle();
    emit aboutToApply();
    m_order.column = column;
    m_order.direction = order;
    std::sort(m_all.begin(), m_all.end(), m_order);
    rearrangeShown([&] { std::sort(m_shown.begin(), m_shown.end(), m_order); });
    emit applied();
}

int LocksModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

int LocksModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : LockRow::ColumnCount;
}

QVariant LocksModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const LockRow &entry = *m_shown[static_cast<std::size_t>(index.row())];
    const auto text = [&] {
        return entry.cell(index.column(), entry.gone ? entry.goneAt : nowOf(entry.snapshot.lock.connection));
    };
    switch (role) {
    case Qt::DisplayRole: return text();
    case WholeTextRole: return index.column() == LockRow::Holder ? withWholeId(text(), entry.snapshot) : QVariant();
    case NameRole: return entry.snapshot.lock.name;
    case BriefRole: return entry.brief(index.column());
    case Qt::TextAlignmentRole: return QVariant::fromValue(LockRow::alignmentOf(index.column()));
    case Qt::ToolTipRole: return index.column() == LockRow::Lock ? toolTipOf(entry.snapshot) : plainToolTip(text());
    default: return {};
    }
}

QVariant LocksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= LockRow::ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(LockRow::alignmentOf(section));
    if (role == Qt::InitialSortOrderRole) // who looks for waiters looks for the most
        return section >= LockRow::Waiting && section <= LockRow::Held ? Qt::DescendingOrder : Qt::AscendingOrder;
    if (role == Qt::ToolTipRole)
        return LockRow::helpOf(section);
    return role == Qt::DisplayRole ? QVariant(LockRow::titleOf(section)) : QVariant();
}

} // namespace lockscope::ui

#include "moc_locksmodel.cpp"
