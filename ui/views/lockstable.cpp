// SPDX-License-Identifier: Apache-2.0
#include "ui/views/lockstable.h"

#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScrollBar>

namespace lockscope::ui {

using inspect::LockName;
using inspect::Severity;

constexpr std::chrono::seconds keyHoldsFor(2);

CellLook LocksDelegate::look(const QModelIndex &index) const
{
    const Tokens &t = Theme::tokens();
    const LockFacts &facts = m_model.factsAt(index.row());
    const bool isGone = m_model.isGoneAt(index.row());
    const bool stale = isGone || m_model.isFrozen(m_model.snapshotAt(index.row()).lock.connection);
    CellLook cell{textFont(), t.text, Qt::ElideRight, {}, false, stale};
    switch (index.column()) {
    case LockRow::State:
        cell.pill = isGone ? Pill{PillShape::Ring, Tone::Free, index.data().toString()} : facts.pill;
        break;
    case LockRow::Lock:
        cell.font = monoFont(12, QFont::Bold);
        cell.elide = Qt::ElideMiddle; // both ends of a path tell more than its middle
        break;
    case LockRow::Holder: cell.font = monoFont(); break;
    case LockRow::Connection:
        if (production.contains(m_model.snapshotAt(index.row()).lock.connection)) {
            cell.colour = t.critical;
            cell.prefix = QStringLiteral("PROD · ");
        }
        break;
    case LockRow::Waiting:
    case LockRow::OldestWait:
    case LockRow::Held: cell.tabular = true; break;
    case LockRow::FindingColumn:
        cell.tabular = true;
        cell.colour = facts.worst == Severity::Critical  ? t.critical
                      : facts.worst == Severity::Warning ? t.warning
                                                         : t.muted;
        break;
    default: break;
    }
    return cell;
}

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
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    setSortingEnabled(true);
    connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &LocksTable::orderChanged);
    connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this] {
        if (!m_fitting)
            m_widthsChosen = true;
    });
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
    if (m_current && !currentLock())
        setCurrentLock(m_model.rowCount() > 0 ? std::optional(m_model.snapshotAt(0).lock) : std::nullopt, true);
}

bool LocksTable::isInUse() const
{
    return m_isPointerInside || (m_lastKey && m_clock() - *m_lastKey < keyHoldsFor);
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
    const int row = lock ? m_model.rowOf(*lock) : -1;
    m_updating = true;
    if (row < 0) {
        selectionModel()->clear();
    } else {
        // Not setCurrentIndex(): that would scroll.
        selectionModel()->setCurrentIndex(m_model.index(row, 0),
                                          QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        if (reveal)
            scrollTo(m_model.index(row, 0));
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
    int row = m_current ? m_model.rowOf(*m_current) : -1;
    if (row < first || row > last)
        row = first;
    m_anchor = m_model.snapshotAt(row).lock;
    m_anchorY = rowViewportPosition(row);
}

void LocksTable::settle()
{
    if (m_anchor) {
        const int row = m_model.rowOf(*m_anchor);
        if (row >= 0) {
            updateGeometries();
            verticalScrollBar()->setValue(row * CellDelegate::rowHeight - m_anchorY);
        }
    }
    m_updating = false;
    // A row that is gone for now leaves no neighbour selected in its place.
    const int row = m_current ? m_model.rowOf(*m_current) : -1;
    if (row != currentIndex().row())
        setCurrentLock(m_current, false);
}

void LocksTable::keyPressEvent(QKeyEvent *event)
{
    m_lastKey = m_clock();
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
}

void LocksTable::setConnections(int count, std::set<ConnectionName> production)
{
    m_cells->production = std::move(production);
    if (std::exchange(m_showsConnections, count > 1) != (count > 1))
        fitColumns();
    viewport()->update();
}

void LocksTable::fitColumns()
{
    const int width = viewport()->width();
    m_fitting = true;
    // What a narrow window can do without, it goes without.
    setColumnHidden(LockRow::Recipe, width < 860);
    setColumnHidden(LockRow::Held, width < 720);
    setColumnHidden(LockRow::Connection, !m_showsConnections);
    if (!m_widthsChosen) {
        const int state = 134;
        const int numbers = width < 720 ? 180 : 276;
        const int connection = m_showsConnections ? 140 : 0;
        const int rest = std::max(0, width - state - numbers - connection);
        if (m_showsConnections)
            setColumnWidth(LockRow::Connection, connection);
        setColumnWidth(LockRow::State, state);
        setColumnWidth(LockRow::Waiting, 84);
        setColumnWidth(LockRow::OldestWait, 96);
        setColumnWidth(LockRow::Held, 96);
        const bool recipe = !isColumnHidden(LockRow::Recipe);
        setColumnWidth(LockRow::Lock, rest * (recipe ? 31 : 42) / 100);
        setColumnWidth(LockRow::Recipe, rest * 18 / 100);
        setColumnWidth(LockRow::Holder, rest * (recipe ? 21 : 28) / 100);
    }
    m_fitting = false;
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
        const int least = horizontalHeader()->sectionSizeHint(column);
        if (!isColumnHidden(column) && columnWidth(column) < least)
            setColumnWidth(column, least);
    }
    m_fitting = false;
    fitColumns();
}

} // namespace lockscope::ui
