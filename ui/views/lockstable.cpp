// SPDX-License-Identifier: Apache-2.0
#include "ui/views/lockstable.h"

#include "ui/parts/tabletools.h"
#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScrollBar>

namespace lockscope::ui {

using inspect::LockName;

constexpr std::chrono::seconds keyHoldsFor(2);

LocksTable::LocksTable(LocksModel &model, QWidget *parent) : QTableView(parent), m_model(model)
{
    setModel(&model);
    setItemDelegate(m_cells = new LocksDelegate(model, this));
    CellDelegate::prepare(*this);
    setAccessibleName(tr("Locks"));
    setObjectName(QStringLiteral("locksTable"));
    horizontalHeader()->moveSection(LockRow::Connection, LockRow::Recipe); // beside the lock
    setColumnHidden(LockRow::Connection, true);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setSortIndicatorShown(true);
    // The style keeps room for the arrow; without it titles stand above their numbers.
    horizontalHeader()->setStyleSheet(QStringLiteral("QHeaderView::section { padding: 5px 1px 5px 10px; }"));
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    setSortingEnabled(true);
    connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, [this] {
        fitColumns();
        emit orderChanged();
    });
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
        if (!m_fitting && column != LockRow::FindingColumn) // which takes what the window leaves, by itself
            m_widthsChosen = true;
    });
    m_tools = new TableTools(*this, *horizontalHeader(), {LockRow::Lock, LocksModel::NameRole, {}});
    connect(m_tools, &TableTools::columnsChosen, this, &LocksTable::fitColumns);
    connect(&model, &LocksModel::aboutToApply, this, &LocksTable::remember);
    connect(&model, &LocksModel::applied, this, &LocksTable::settle);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &current) {
        if (m_updating || !current.isValid())
            return;
        m_current = m_model.snapshotAt(current.row()).lock;
        emit chosen(*m_current);
    });
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex &index) { emit opened(m_model.snapshotAt(index.row()).lock); });
}

std::pair<int, int> LocksTable::visibleRows() const
{
    const int rows = m_model.rowCount();
    if (rows == 0)
        return {-1, -1};
    const int first = std::max(0, rowAt(0));
    const int last = rowAt(viewport()->height() - 1);
    return {first, last < 0 ? rows - 1 : last};
}

std::optional<LockName> LocksTable::currentLock() const
{
    const bool isHidden = m_current && m_model.rowOf(*m_current) < 0 && m_model.snapshot(*m_current);
    return isHidden ? std::nullopt : m_current;
}

void LocksTable::leaveHidden()
{
    measureAnew();
    if (m_current && !currentLock())
        setCurrentLock(m_model.rowCount() > 0 ? std::optional(m_model.snapshotAt(0).lock) : std::nullopt, true);
}

bool LocksTable::isInUse() const
{
    return m_isPointerInside || (m_lastKey && m_clock() - *m_lastKey < keyHoldsFor);
}

int LocksTable::aimedRow() const
{
    if (m_isPointerInside)
        return rowAt(viewport()->mapFromGlobal(QCursor::pos()).y());
    return isInUse() ? currentIndex().row() : -1;
}

bool LocksTable::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::Enter || event->type() == QEvent::Leave) {
        m_isPointerInside = event->type() == QEvent::Enter;
        emit inUseChanged();
    }
    return QTableView::viewportEvent(event);
}

// The base class would make the first row the current one without selecting it: it would look chosen to
// the detail and not to the eye, and the first arrow would go to the second.
void LocksTable::focusInEvent(QFocusEvent *event)
{
    m_updating = true;
    QTableView::focusInEvent(event);
    if (currentIndex().isValid() && !selectionModel()->isRowSelected(currentIndex().row()))
        selectionModel()->clearCurrentIndex();
    m_updating = false;
}

void LocksTable::setCurrentLock(const std::optional<LockName> &lock, bool reveal)
{
    m_current = lock;
    m_isSoughtLock = false;
    choose(lock ? m_model.rowOf(*lock) : -1);
    if (reveal && currentIndex().isValid())
        scrollTo(currentIndex());
}

void LocksTable::seek(const LockName &lock)
{
    setCurrentLock(lock, true);
    m_isSoughtLock = true;
}

void LocksTable::choose(int row)
{
    m_updating = true;
    if (row < 0) {
        selectionModel()->clear();
    } else {
        // Not setCurrentIndex(): that would scroll.
        selectionModel()->setCurrentIndex(m_model.index(row, m_cells->isStacked ? LockRow::Lock : LockRow::State),
                                          QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    }
    m_updating = false;
}

// Before rows change: remember what stands where, so that it can stand there afterwards.
void LocksTable::remember()
{
    m_updating = true;
    m_anchor.reset();
    const auto [first, last] = visibleRows();
    if (first < 0 || verticalScrollBar()->value() == 0)
        return; // at the top one stays at the top, to see what is new
    int row = aimedRow();
    if (row < 0)
        row = m_current ? m_model.rowOf(*m_current) : -1;
    if (row < first || row > last)
        row = first;
    m_anchor = m_model.snapshotAt(row).lock;
    m_anchorY = rowViewportPosition(row);
}

void LocksTable::settle()
{
    fitRows();
    if (m_anchor) {
        const int row = m_model.rowOf(*m_anchor);
        if (row >= 0) {
            updateGeometries();
            verticalScrollBar()->setValue(verticalScrollBar()->value() + rowViewportPosition(row) - m_anchorY);
        }
    }
    m_updating = false;
    // A row that is gone for now leaves no neighbour selected in its place.
    const int row = m_current ? m_model.rowOf(*m_current) : -1;
    if (row != currentIndex().row())
        choose(row);
    showSought();
    if (!m_widthsChosen && measure())
        fitColumns();
}

bool LocksTable::isAwaited(const LockName &lock) const
{
    return m_isSoughtLock && m_current == lock && m_model.rowOf(lock) < 0 && m_model.waiting().fresh > 0;
}

void LocksTable::showSought()
{
    if (m_isSoughtLock && currentIndex().isValid())
        scrollTo(currentIndex());
}

void LocksTable::wheelEvent(QWheelEvent *event)
{
    m_isSoughtLock = false;
    QTableView::wheelEvent(event);
}

void LocksTable::mousePressEvent(QMouseEvent *event)
{
    m_isSoughtLock = false;
    QTableView::mousePressEvent(event);
}

void LocksTable::keyPressEvent(QKeyEvent *event)
{
    m_lastKey = m_clock();
    m_isSoughtLock = false;
    emit inUseChanged();
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (currentIndex().isValid())
            emit opened(m_model.snapshotAt(currentIndex().row()).lock);
        return;
    }
    if (event->key() == Qt::Key_Space) {
        event->ignore(); // the window pauses
        return;
    }
    QTableView::keyPressEvent(event);
}

void LocksTable::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    fitColumns();
    showSought();
}

// On a projector all text is larger. The header measures its titles anew after this.
void LocksTable::changeEvent(QEvent *event)
{
    QTableView::changeEvent(event);
    if (event->type() != QEvent::FontChange)
        return;
    QMetaObject::invokeMethod(this, &LocksTable::measureAnew, Qt::QueuedConnection);
}

void LocksTable::measureAnew()
{
    m_needed = {};
    m_brief = {};
    fitColumns();
}

void LocksTable::setConnections(std::map<ConnectionName, GroupHead> connections)
{
    const bool areSeveral = connections.size() > 1;
    if (m_cells->groups != connections)
        viewport()->update();
    m_cells->groups = std::move(connections);
    if (std::exchange(m_showsConnections, areSeveral) != areSeveral)
        fitColumns();
}

void LocksTable::setStacked(bool isStacked)
{
    if (std::exchange(m_cells->isStacked, isStacked) == isStacked)
        return;
    const auto reading = m_current; // it stays on screen
    m_model.setGrouped(isStacked);
    horizontalHeader()->setVisible(!isStacked);
    setHorizontalScrollBarPolicy(isStacked ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    verticalHeader()->setDefaultSectionSize(isStacked ? shownSize(stackedRowHeight) : CellDelegate::rowHeight);
    fitRows();
    fitColumns();
    if (reading && currentIndex().isValid())
        scrollTo(currentIndex());
}

// The first row of a group is higher, by what stands above it.
void LocksTable::fitRows()
{
    auto *rows = verticalHeader();
    const auto starts = m_cells->isStacked ? m_model.groupStarts() : std::vector<int>();
    for (const auto &head : m_heads) {
        if (head.isValid() && !std::ranges::binary_search(starts, head.row()))
            rows->resizeSection(head.row(), rows->defaultSectionSize());
    }
    m_heads.clear();
    for (const int start : starts) {
        rows->resizeSection(start, shownSize(stackedRowHeight) + shownSize(groupHeadHeight));
        m_heads.emplace_back(m_model.index(start, LockRow::Lock));
    }
}

void LocksTable::fitColumns()
{
    const int width = viewport()->width();
    m_fitting = true;
    if (m_cells->isStacked) {
        for (int column = 0; column < LockRow::ColumnCount; ++column) {
            m_tools->noteUnshown(column, column != LockRow::Connection || m_showsConnections);
            setColumnHidden(column, column != LockRow::Lock);
        }
        horizontalHeader()->setStretchLastSection(false);
        setColumnWidth(LockRow::Lock, width);
        m_fitting = false;
        return;
    }
    horizontalHeader()->setStretchLastSection(true);
    // What a narrow window can do without, it goes without.
    const std::map<int, int> least{{LockRow::Recipe, 860}, {LockRow::Held, 720}, {LockRow::OldestWait, 860}};
    for (int column = 0; column < LockRow::ColumnCount; ++column) {
        const auto needs = least.find(column);
        const bool hasUse = column != LockRow::Connection || m_showsConnections;
        const bool isTooNarrow = column == LockRow::Connection && isVisible() && width < 640; // the detail says it
        setColumnHidden(
            column, m_tools->hides(column, !isTooNarrow && (needs == least.end() || width >= needs->second), hasUse));
    }
    if (!m_widthsChosen) {
        measure();
        const auto within = [this](int column, int low, int high) {
            const int whole = std::max(low, titleWidth(column)); // it is not cut
            return std::pair(column, std::clamp(m_needed[column], whole, std::max(whole, shownSize(high))));
        };
        int left = width;
        for (const auto &[column, wide] :
             {within(LockRow::State, 108, 140), within(LockRow::Waiting, 76, 96), within(LockRow::OldestWait, 96, 96),
              within(LockRow::Held, 78, 110), within(LockRow::Connection, 98, 140)}) {
            setColumnWidth(column, wide);
            left -= isColumnHidden(column) ? 0 : wide;
        }
        shareOut(std::max(0, left));
    }
    m_fitting = false;
}

// The header keeps room for the arrow of the order in every column; only one has it.
int LocksTable::titleWidth(int column)
{
    auto *header = horizontalHeader();
    header->setSortIndicatorShown(header->sortIndicatorSection() == column);
    const int width = header->sectionSizeHint(column);
    header->setSortIndicatorShown(true);
    return width;
}

// A lock's name is the last thing to be cut: it has up to half of the room first, and all of it once the recipe
// and the kind of finding are there in their fewest words. Then comes who holds it. What then is left goes to the
// holder's address, and to the findings, which the header stretches.
void LocksTable::shareOut(int room)
{
    const auto shown = [this](int column, int width) { return isColumnHidden(column) ? 0 : width; };
    const bool recipe = !isColumnHidden(LockRow::Recipe);
    std::map<int, int> widths{{LockRow::Lock, 150},
                              {LockRow::Holder, shown(LockRow::Holder, 110)},
                              {LockRow::Recipe, shown(LockRow::Recipe, 80)},
                              {LockRow::FindingColumn, shown(LockRow::FindingColumn, recipe       ? 110
                                                                                     : room > 440 ? 150
                                                                                                  : 84)}};
    int left = room;
    for (const auto &[column, least] : widths)
        left -= least;
    if (left < 0) { // not even room for the least: the name first
        const int name =
            std::clamp(m_needed[LockRow::Lock], room * 40 / 100, std::max(room * 40 / 100, room * 64 / 100));
        const int rest = room - name;
        setColumnWidth(LockRow::Lock, name);
        setColumnWidth(LockRow::Holder, rest * (recipe ? 36 : 50) / 100);
        setColumnWidth(LockRow::Recipe, rest * 30 / 100);
        setColumnWidth(LockRow::FindingColumn, widths[LockRow::FindingColumn]);
        return;
    }
    const std::pair<int, int> wishes[] = {{LockRow::Lock, std::min(m_needed[LockRow::Lock], room * 55 / 100)},
                                          {LockRow::Recipe, std::min(m_needed[LockRow::Recipe], 190)},
                                          {LockRow::FindingColumn, std::min(m_brief[LockRow::FindingColumn], 200)},
                                          {LockRow::Lock, m_needed[LockRow::Lock]},
                                          {LockRow::Holder, std::min(m_brief[LockRow::Holder], 250)},
                                          {LockRow::Holder, std::min(m_needed[LockRow::Holder], 250)}};
    for (const auto &[column, wish] : wishes) {
        const int extra = std::clamp(shown(column, wish) - widths[column], 0, left);
        left -= extra;
        widths[column] += extra;
    }
    for (const auto &[column, width] : widths) {
        if (!isColumnHidden(column))
            setColumnWidth(column, width);
    }
}

bool LocksTable::measure()
{
    const auto [first, last] = visibleRows();
    bool grew = false;
    for (int row = std::max(0, first); row <= last; ++row) {
        const auto grow = [&grew](int &known, int width) {
            grew |= width > known;
            known = std::max(known, width);
        };
        for (const int column : {LockRow::State, LockRow::Lock, LockRow::Recipe, LockRow::Holder, LockRow::Waiting,
                                 LockRow::Held, LockRow::Connection})
            grow(m_needed[column], m_cells->sizeHint({}, m_model.index(row, column)).width());
        for (const int column : {LockRow::Holder, LockRow::FindingColumn})
            grow(m_brief[column], m_cells->briefWidth(m_model.index(row, column)));
    }
    return grew;
}

QByteArray LocksTable::saveColumns() const
{
    return m_widthsChosen ? horizontalHeader()->saveState() : QByteArray();
}

void LocksTable::restoreColumns(const QByteArray &saved)
{
    if (saved.isEmpty())
        return;
    m_fitting = true;
    m_widthsChosen = horizontalHeader()->restoreState(saved);
    horizontalHeader()->setStretchLastSection(true);
    // An order chosen for one question must not hide a critical lock in the next window.
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    for (int column = 0; column < LockRow::ColumnCount; ++column) {
        const int least = titleWidth(column);
        if (!isColumnHidden(column) && columnWidth(column) < least)
            setColumnWidth(column, least);
    }
    m_fitting = false;
    fitColumns();
}

} // namespace lockscope::ui

#include "moc_lockstable.cpp"
