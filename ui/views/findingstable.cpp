// SPDX-License-Identifier: Apache-2.0
#include "ui/views/findingstable.h"

#include "ui/parts/tabletools.h"

#include <QKeyEvent>

namespace lockscope::ui {

using inspect::Severity;

CellLook FindingsDelegate::look(const QModelIndex &index) const
{
    const Tokens &t = Theme::tokens();
    const auto &row = m_model.at(index.row());
    CellLook cell{textFont(), t.text, Qt::ElideRight, {}, false, m_model.isFrozen(row.lock.connection)};
    switch (index.column()) {
    case FindingRow::State: cell.pill = row.pill(); break;
    case FindingRow::Title: cell.font = textFont(13, QFont::DemiBold); break;
    case FindingRow::Lock:
        cell.font = monoFont(12, QFont::Bold);
        // Of several, the first one is readable.
        cell.elide = row.locks.size() > 1 ? Qt::ElideRight : Qt::ElideMiddle;
        break;
    case FindingRow::Who: cell.font = monoFont(); break;
    case FindingRow::Message:
        cell.tabular = true;
        cell.colour = row.finding.severity == Severity::Critical  ? t.critical
                      : row.finding.severity == Severity::Warning ? t.warning
                                                                  : t.muted;
        break;
    case FindingRow::Since:
    case FindingRow::Connection: cell.colour = t.muted; break;
    default: break;
    }
    cell.tabular |= index.column() == FindingRow::Since;
    if (row.muted) { // quiet, and still to be read: no paler than that
        cell.colour = t.muted;
        if (cell.pill)
            cell.pill->tone = Tone::Free;
    }
    return cell;
}

FindingsTable::FindingsTable(FindingsModel &model, QWidget *parent) : QTableView(parent), m_model(model)
{
    setModel(&model);
    setItemDelegate(new FindingsDelegate(model, this));
    CellDelegate::prepare(*this);
    setAccessibleName(tr("Findings"));
    setObjectName(QStringLiteral("findingsTable"));
    auto *header = horizontalHeader();
    header->setStyleSheet(QStringLiteral("QHeaderView::section { padding: 5px 1px 5px 10px; }"));
    header->setSortIndicatorShown(true);
    header->setSortIndicatorClearable(true);
    header->setSortIndicator(-1, Qt::AscendingOrder);
    header->setSectionResizeMode(FindingRow::Message, QHeaderView::Stretch);
    setSortingEnabled(true);
    for (const auto &[column, width] : std::initializer_list<std::pair<int, int>>{{FindingRow::State, 96},
                                                                                  {FindingRow::Title, 168},
                                                                                  {FindingRow::Lock, 230},
                                                                                  {FindingRow::Connection, 96},
                                                                                  {FindingRow::Who, 180},
                                                                                  {FindingRow::Since, 104}})
        setColumnWidth(column, width);
    m_tools = new TableTools(*this, *header, {FindingRow::Lock, Qt::DisplayRole, {}});
    connect(m_tools, &TableTools::columnsChosen, this, &FindingsTable::arrangeColumns);
    arrangeColumns();
    connect(this, &QTableView::doubleClicked, this, &FindingsTable::opened);
    connect(header, &QHeaderView::sectionResized, this,
            [this](int column) { m_isNameDragged |= column == FindingRow::Lock && !m_isFittingNames; });
    header->setResizeContentsPrecision(0); // of what is on screen
    for (const auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(&model, changed, this, &FindingsTable::fitNames);
}

const FindingRow *FindingsTable::current() const
{
    const auto index = currentIndex();
    return index.isValid() ? &m_model.at(index.row()) : nullptr;
}

std::pair<int, int> FindingsTable::visibleRows() const
{
    if (m_model.rowCount() == 0)
        return {-1, -1};
    const int last = rowAt(viewport()->height() - 1);
    return {std::max(0, rowAt(0)), last < 0 ? m_model.rowCount() - 1 : last};
}

// Deadlocks are found last, after what is less grave.
void FindingsTable::chooseGravest()
{
    if (m_isChoiceTheirs || m_model.rowCount() == 0)
        return;
    const auto *chosen = current();
    int gravest = 0;
    for (int row = 1; row < m_model.rowCount(); ++row) {
        if (m_model.at(row).finding.severity > m_model.at(gravest).finding.severity)
            gravest = row;
    }
    if (!chosen || chosen->finding.severity < m_model.at(gravest).finding.severity)
        setCurrentIndex(m_model.index(gravest, 0));
}

// Without a chosen row Qt would make the first one current, and not show it.
void FindingsTable::focusInEvent(QFocusEvent *event)
{
    if (!current() && event->reason() != Qt::MouseFocusReason)
        chooseGravest();
    QTableView::focusInEvent(event);
}

void FindingsTable::mousePressEvent(QMouseEvent *event)
{
    keepChoice();
    QTableView::mousePressEvent(event);
}

void FindingsTable::keyPressEvent(QKeyEvent *event)
{
    keepChoice();
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && current()) {
        emit opened();
        return;
    }
    // A letter is a key of the page, not the beginning of a search.
    if (event->modifiers() == Qt::NoModifier && !event->text().isEmpty() && event->text().front().isLetter()) {
        event->ignore();
        return;
    }
    QTableView::keyPressEvent(event);
}

void FindingsTable::showConnections(bool areSeveral)
{
    m_areSeveral = areSeveral;
    arrangeColumns();
}

// In a narrow window whom it is about, and since when, stand in the detail only; what was chosen counts more.
void FindingsTable::arrangeColumns()
{
    for (int column = 0; column < FindingRow::ColumnCount; ++column) {
        const bool hasRoom = column == FindingRow::Who     ? width() >= 1200
                             : column == FindingRow::Since ? width() >= 900
                                                           : true;
        setColumnHidden(column, m_tools->hides(column, hasRoom, column != FindingRow::Connection || m_areSeveral));
    }
}

void FindingsTable::resizeEvent(QResizeEvent *event)
{
    arrangeColumns();
    fitNames();
    QTableView::resizeEvent(event);
}

// As wide as the names are, three tenths at most, or what the words leave: what was seen needs the room, too, but
// stands in the detail whole.
void FindingsTable::fitNames()
{
    constexpr int least = 140;
    constexpr int most = 340;
    if (m_isNameDragged)
        return;
    m_isFittingNames = true;
    int left = width() - sizeHintForColumn(FindingRow::Message);
    for (const auto column :
         {FindingRow::State, FindingRow::Title, FindingRow::Connection, FindingRow::Who, FindingRow::Since})
        left -= isColumnHidden(column) ? 0 : columnWidth(column);
    const int share = std::max(std::clamp(width() * 3 / 10, least, most), left);
    setColumnWidth(FindingRow::Lock, std::clamp(sizeHintForColumn(FindingRow::Lock), least, share));
    m_isFittingNames = false;
}

void FindingsTable::currentChanged(const QModelIndex &current, const QModelIndex &previous)
{
    QTableView::currentChanged(current, previous);
    emit chosen();
}

} // namespace lockscope::ui

#include "moc_findingstable.cpp"
