// SPDX-License-Identifier: Apache-2.0
#include "ui/views/lockstable.h"

#include "ui/parts/tabletools.h"
#include "ui/views/celldelegate.h"

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
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setAccessibleName(tr("Locks"));
    setObjectName(QStringLiteral("locksTable"));
    horizontalHeader()->moveSection(LockRow::Connection, LockRow::Recipe); // beside the lock
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    horizontalHeader()->setSectionResizeMode(LockRow::Lock, QHeaderView::Stretch);
    horizontalHeader()->hide();
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSortingEnabled(true);
    m_model.setGrouped(true);
    connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &LocksTable::orderChanged);
    m_tools = new TableTools(*this, *horizontalHeader(), {LockRow::Lock, LocksModel::NameRole, {}});
    connect(m_tools, &TableTools::columnsChosen, this, &LocksTable::hideColumns);
    hideColumns();
    connect(&model, &LocksModel::aboutToApply, this, &LocksTable::remember);
    connect(&model, &LocksModel::applied, this, &LocksTable::settle);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &current) {
        if (m_updating || !current.isValid())
            return;
        m_current = m_model.snapshotAt(current.row()).lock;
        emit chosen(*m_current);
    });
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, &LocksTable::keepCurrentChosen);
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

// What is acted on is highlighted: the current row is one of those that are chosen.
void LocksTable::keepCurrentChosen()
{
    const auto rows = chosenRows();
    const int current = currentIndex().row();
    if (!m_updating && current >= 0 && !std::ranges::binary_search(rows, current)) {
        const auto command = rows.empty() ? QItemSelectionModel::Select | QItemSelectionModel::Rows
                                          : QItemSelectionModel::SelectionFlags(QItemSelectionModel::NoUpdate);
        selectionModel()->setCurrentIndex(m_model.index(rows.empty() ? current : rows.front(), LockRow::Lock),
                                          command);
    }
    emit chosenRowsChanged();
}

std::vector<int> LocksTable::chosenRows() const
{
    std::vector<int> rows;
    const auto chosen = selectionModel()->selectedRows(LockRow::Lock);
    for (const auto &index : chosen)
        rows.push_back(index.row());
    std::ranges::sort(rows);
    return rows;
}

void LocksTable::leaveHidden()
{
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
        m_top = mapTo(window(), QPoint()).y();
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
        selectionModel()->setCurrentIndex(m_model.index(row, LockRow::Lock),
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
    // With Ctrl they would go to a row without choosing it.
    const bool isMove = event->key() >= Qt::Key_Home && event->key() <= Qt::Key_PageDown;
    QKeyEvent plain(event->type(), event->key(), event->modifiers() & ~Qt::ControlModifier, event->text());
    QTableView::keyPressEvent(isMove ? &plain : event);
}

void LocksTable::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    // What came or went above the list, as an incident does, moves no row away from the pointer.
    const int top = mapTo(window(), QPoint()).y();
    if (const int down = top - std::exchange(m_top, top); m_isPointerInside && down != 0)
        verticalScrollBar()->setValue(verticalScrollBar()->value() + down);
    showSought();
}

void LocksTable::setConnections(std::map<ConnectionName, GroupHead> connections)
{
    const bool areSeveral = connections.size() > 1;
    if (m_cells->groups != connections)
        viewport()->update();
    m_cells->groups = std::move(connections);
    if (std::exchange(m_showsConnections, areSeveral) != areSeveral)
        hideColumns();
}

// The first row of a group is higher, by what stands above it.
void LocksTable::fitRows()
{
    auto *rows = verticalHeader();
    const int height = shownSize(stackedRowHeight);
    if (rows->defaultSectionSize() != height)
        rows->setDefaultSectionSize(height);
    const auto starts = m_model.groupStarts();
    for (const auto &head : m_heads) {
        if (head.isValid() && !std::ranges::binary_search(starts, head.row()))
            rows->resizeSection(head.row(), height);
    }
    m_heads.clear();
    for (const int start : starts) {
        rows->resizeSection(start, height + shownSize(groupHeadHeight));
        m_heads.emplace_back(m_model.index(start, LockRow::Lock));
    }
}

void LocksTable::hideColumns()
{
    for (int column = 0; column < LockRow::ColumnCount; ++column) {
        const bool hasUse = column != LockRow::Connection || m_showsConnections;
        const bool isName = column == LockRow::Lock;
        setColumnHidden(column, m_tools->hides(column, isName, hasUse) || !isName);
    }
}

} // namespace lockscope::ui

#include "moc_lockstable.cpp"
