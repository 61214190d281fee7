// SPDX-License-Identifier: Apache-2.0
#include "ui/views/queuetable.h"

#include "ui/parts/tabletools.h"
#include "ui/theme/theme.h"
#include "ui/views/queuerailpaint.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>

namespace lockscope::ui {

constexpr int tallRowHeight = 44;
constexpr int enoughOfASession = 96; // "0x10…e001b"

CellLook QueueDelegate::look(const QModelIndex &index) const
{
    const Tokens &t = Theme::tokens();
    CellLook cell{textFont(), t.text, Qt::ElideMiddle, {}, false, false};
    switch (index.column()) {
    case QueueModel::Place: cell.pill = m_model.pillAt(index.row()); break;
    case QueueModel::Who:
        cell.font = monoFont();
        cell.elide = m_model.isNamed(index.row()) ? Qt::ElideRight : Qt::ElideMiddle; // the name comes first
        break;
    case QueueModel::Age:
    case QueueModel::Ttl:
        cell.tabular = true;
        cell.elide = Qt::ElideRight; // "≤ 11…50 s" is another time
        break;
    default:
        cell.font = monoFont();
        cell.colour = index.column() == QueueModel::Node ? t.text : t.muted;
        break;
    }
    return cell;
}

void QueueDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const bool hasTwoLines = isTall && index.column() <= QueueModel::Age;
    if (hasTwoLines)
        paintTall(*painter, option, index);
    else
        CellDelegate::paint(painter, option, index);
}

void QueueDelegate::paintTall(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const Tokens &t = Theme::tokens();
    const int row = index.row();
    const QRect box = option.rect;
    const auto *view = qobject_cast<const QAbstractItemView *>(option.widget);
    painter.fillRect(box, option.state & QStyle::State_Selected ? t.selection : t.panel);
    painter.fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
    const QRect inside = box.adjusted(padding, 3, -padding, -4);
    switch (index.column()) {
    case QueueModel::Place:
        paintRails(painter, box, m_model.railAt(row), m_model.pillAt(row));
        if (view && view->hasFocus() && view->currentIndex().row() == row)
            painter.fillRect(QRect(box.left(), box.top(), 3, box.height() - 1), t.accent);
        break;
    case QueueModel::Who:
        paintTwoLines(painter, inside, m_model.nameAt(row), m_model.originAt(row), Qt::AlignLeft, true);
        break;
    case QueueModel::Session: // its place is that of what is watched
        paintTwoLines(painter, inside, m_model.watchedAt(row), m_model.evidenceAt(row), Qt::AlignLeft, false);
        break;
    default:
        paintTwoLines(painter, inside, index.data().toString(),
                      m_model.contenderAt(row).role == inspect::Role::Holder ? tr("holds") : tr("waits"),
                      Qt::AlignRight, false);
        break;
    }
}

QueueTable::QueueTable(QueueModel &model, Columns columns, QWidget *parent)
    : QTableView(parent), m_model(model), m_columns(columns)
{
    setModel(&model);
    setItemDelegate(m_cells = new QueueDelegate(model, this));
    CellDelegate::prepare(*this);
    setAccessibleName(tr("Queue"));
    horizontalHeader()->setStretchLastSection(columns == Columns::Raw);
    constexpr int mostMeasured = 100; // rows: columns are fitted with every change of a queue of 10,000
    horizontalHeader()->setResizeContentsPrecision(mostMeasured);
    QList<int> own;
    for (int column = 0; column < QueueModel::ColumnCount; ++column) {
        const bool isOwn = (column >= QueueModel::Node) == (columns == Columns::Raw);
        setColumnHidden(column, !isOwn);
        if (isOwn)
            own << column;
    }
    const int name = columns == Columns::Raw ? QueueModel::Node : QueueModel::Who;
    m_tools = new TableTools(*this, *horizontalHeader(), {name, Qt::DisplayRole, own});
    connect(m_tools, &TableTools::columnsChosen, this, &QueueTable::fitColumns);
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &current) {
        if (current.isValid())
            emit chosen(m_model.contenderAt(current.row()).id);
    });
    // Which columns have something to say changes with the lock.
    connect(&model, &QueueModel::snapshotSet, this, [this] {
        fitColumns();
        fitHeight();
    });
    // A time that goes on needs more room one day.
    connect(&model, &QAbstractItemModel::dataChanged, this, [this] {
        if (timesNeedRoom())
            fitColumns();
    });
}

QByteArray QueueTable::currentContender() const
{
    return currentIndex().isValid() ? m_model.contenderAt(currentIndex().row()).id : QByteArray();
}

void QueueTable::setCurrentContender(const QByteArray &id)
{
    const int row = m_model.rowOf(id);
    if (row < 0 || row == currentIndex().row())
        return;
    selectionModel()->setCurrentIndex(
        m_model.index(row, m_columns == Columns::Raw ? QueueModel::Node : QueueModel::Place),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    scrollTo(currentIndex());
}

void QueueTable::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Space)
        event->ignore(); // the window pauses
    else
        QTableView::keyPressEvent(event);
}

void QueueTable::resizeEvent(QResizeEvent *event)
{
    QTableView::resizeEvent(event);
    fitColumns();
}

// Where one of the two needs more than its part, it has what the other leaves.
int QueueTable::widthOfWho(int both) const
{
    const int part = both * (m_model.hasNames() ? 60 : 45) / 100;
    const int who = sizeHintForColumn(QueueModel::Who), session = sizeHintForColumn(QueueModel::Session);
    if (who > part) // a session's number is mostly cut, and told apart by its end all the same
        return std::max(part, std::min(who, both - std::min(session, enoughOfASession)));
    return std::min(part, std::max(who, both - session));
}

int QueueTable::widthOfTime(int column) const
{
    constexpr int usual = 84;
    return isColumnHidden(column) ? 0 : std::max(usual, sizeHintForColumn(column));
}

bool QueueTable::timesNeedRoom() const
{
    const auto needsRoom = [this](int column) { return widthOfTime(column) > columnWidth(column); };
    return m_columns == Columns::Queue && (needsRoom(QueueModel::Age) || needsRoom(QueueModel::Ttl));
}

void QueueTable::setTall(bool isTall)
{
    if (std::exchange(m_cells->isTall, isTall) == isTall)
        return;
    verticalHeader()->setDefaultSectionSize(isTall ? shownSize(tallRowHeight) : CellDelegate::rowHeight);
    m_model.setTall(isTall);
    fitColumns();
    fitHeight();
}

// What follows the last row stands right below it.
void QueueTable::fitHeight()
{
    const int rows = m_model.rowCount() * verticalHeader()->defaultSectionSize();
    setMaximumHeight(m_cells->isTall ? horizontalHeader()->sizeHint().height() + rows + 2 * frameWidth()
                                     : QWIDGETSIZE_MAX);
}

// The session stands in the second line of who it is, and its column says what is watched.
void QueueTable::fitTall()
{
    const int width = viewport()->width();
    const bool hasTtl = m_model.hasTtl() && !m_tools->hides(QueueModel::Ttl);
    setColumnHidden(QueueModel::Ttl, !hasTtl);
    for (const auto column : {QueueModel::Place, QueueModel::Session, QueueModel::Age})
        setColumnHidden(column, m_tools->hides(column));
    const auto shown = [this](int column, int wanted) { return isColumnHidden(column) ? 0 : wanted; };
    const int place = shown(QueueModel::Place, railsWidth);
    const int age = shown(QueueModel::Age, std::max(84, sizeHintForColumn(QueueModel::Age)));
    const int ttl = shown(QueueModel::Ttl, std::max(84, sizeHintForColumn(QueueModel::Ttl)));
    const int rest = std::max(0, width - place - age - ttl);
    const int watched = shown(QueueModel::Session, std::clamp(rest * 32 / 100, 90, 240));
    setColumnWidth(QueueModel::Place, place);
    setColumnWidth(QueueModel::Who, rest - watched);
    setColumnWidth(QueueModel::Session, watched);
    setColumnWidth(QueueModel::Age, age);
    setColumnWidth(QueueModel::Ttl, ttl);
}

void QueueTable::fitColumns()
{
    if (m_cells->isTall && m_columns == Columns::Queue)
        return fitTall();
    const int width = viewport()->width();
    if (m_columns == Columns::Raw) {
        for (const auto column : {QueueModel::Czxid, QueueModel::Owner, QueueModel::Version})
            setColumnHidden(column, !m_model.hasNodes() || m_tools->hides(column));
        setColumnHidden(QueueModel::Data, m_tools->hides(QueueModel::Data));
        setColumnWidth(QueueModel::Node, width * 42 / 100);
        setColumnWidth(QueueModel::Czxid, std::min(120, width * 14 / 100));
        setColumnWidth(QueueModel::Owner, std::min(170, width * 20 / 100));
        setColumnWidth(QueueModel::Version, 70);
        return;
    }
    const bool ttl = m_model.hasTtl() && !m_tools->hides(QueueModel::Ttl);
    setColumnHidden(QueueModel::Ttl, !ttl);
    setColumnHidden(QueueModel::Place, m_tools->hides(QueueModel::Place));
    setColumnHidden(QueueModel::Age, m_tools->hides(QueueModel::Age));
    const int place = isColumnHidden(QueueModel::Place) ? 0 : m_model.hasModes() ? 98 : 80;
    const int left = widthOfTime(QueueModel::Ttl);
    // Where nobody's age is known its column says nothing, and who it is may need the room.
    const int withAge = width - place - left - widthOfTime(QueueModel::Age);
    if (!m_model.hasAges() && sizeHintForColumn(QueueModel::Who) > withAge)
        setColumnHidden(QueueModel::Age, true);
    const int age = widthOfTime(QueueModel::Age);
    const int rest = std::max(0, width - place - age - left);
    // A name says more than a session's number where there is no room for both.
    constexpr int roomForBoth = 200;
    const int session = std::min(sizeHintForColumn(QueueModel::Session), enoughOfASession);
    const bool isNarrow = rest < (m_model.hasNames() ? roomForBoth : sizeHintForColumn(QueueModel::Who) + session);
    const bool sessions = m_model.hasSessions() && !m_tools->hides(QueueModel::Session) && !isNarrow;
    const int who = sessions ? widthOfWho(rest) : rest;
    setColumnHidden(QueueModel::Session, !sessions);
    setColumnWidth(QueueModel::Place, place);
    setColumnWidth(QueueModel::Who, who);
    setColumnWidth(QueueModel::Session, rest - who);
    setColumnWidth(QueueModel::Age, age);
    setColumnWidth(QueueModel::Ttl, left);
}

} // namespace lockscope::ui

#include "moc_queuetable.cpp"
