// SPDX-License-Identifier: Apache-2.0
#include "ui/views/queuetable.h"

#include "core/base/text.h"
#include "ui/parts/labels.h"
#include "ui/parts/parts.h"
#include "ui/parts/tabletools.h"

#include <QKeyEvent>
#include <QPainter>

namespace lockscope::ui {

using inspect::Contender;
using inspect::Role;

namespace {

constexpr int tallRowHeight = 44;
constexpr int railsWidth = 92;
constexpr qreal railSignLeft = 52; // of the middle of the sign
constexpr qreal railSignRadius = 10;
constexpr qreal laneLeft = 36, laneStep = 11; // lanes go to the left from there
constexpr qreal arrowSize = 4;

void paintLine(QPainter &painter, RailPart part, QPointF from, QPointF to)
{
    if (part == RailPart::None)
        return;
    const Tokens &t = Theme::tokens();
    QPen pen(part == RailPart::Seen ? t.accent : t.muted, 1.6);
    if (part == RailPart::Inferred)
        pen.setDashPattern({2.5, 2.5});
    painter.setPen(pen);
    painter.drawLine(from, to);
}

void paintArrow(QPainter &painter, RailPart part, QPointF tip, QPointF along)
{
    const Tokens &t = Theme::tokens();
    const QPointF across(-along.y(), along.x());
    painter.setPen(Qt::NoPen);
    painter.setBrush(part == RailPart::Seen ? t.accent : t.muted);
    painter.drawPolygon(QPolygonF(
        {tip, tip - along * 2 * arrowSize + across * arrowSize, tip - along * 2 * arrowSize - across * arrowSize}));
    painter.setBrush(Qt::NoBrush);
}

void paintSign(QPainter &painter, QPointF center, const Pill &pill)
{
    const Tokens &t = Theme::tokens();
    const QColor color = toneColor(t, pill.tone);
    const bool isPlace = pill.word.front().isDigit();
    const QRectF circle(center.x() - railSignRadius, center.y() - railSignRadius, 2 * railSignRadius,
                        2 * railSignRadius);
    if (!isPlace) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.panel);
        painter.drawEllipse(circle);
        painter.setBrush(Qt::NoBrush);
        painter.save();
        painter.translate(center);
        painter.scale(1.6, 1.6);
        paintShape(painter, QRectF(-6, -6, 12, 12), pill.shape, color);
        painter.restore();
        return;
    }
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(toneSoft(t, pill.tone));
    painter.drawEllipse(circle);
    painter.setBrush(Qt::NoBrush);
    painter.setFont(textFont(11, QFont::DemiBold));
    painter.drawText(circle, Qt::AlignCenter, pill.word.section(u' ', 0, 0));
}

// A solid line is one that a server reported, a dashed one is inferred. `pill` is the sign of the row, or its place.
void paintRails(QPainter &painter, const QRect &box, const RailRow &rail, const Pill &pill)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(box);
    const qreal middle = box.top() + (box.height() - 1) / 2.0;
    const QPointF sign(box.left() + railSignLeft, middle);
    const QPointF top(sign.x(), box.top()), bottom(sign.x(), box.bottom() + 1);
    paintLine(painter, rail.up, sign - QPointF(0, railSignRadius), top);
    paintLine(painter, rail.down, bottom, sign + QPointF(0, railSignRadius + arrowSize));
    if (rail.down != RailPart::None)
        paintArrow(painter, rail.down, sign + QPointF(0, railSignRadius + 1), {0, -1});
    for (std::size_t i = 0; i < rail.lanes.size(); ++i) {
        const auto &lane = rail.lanes[i];
        const qreal x = box.left() + laneLeft - laneStep * static_cast<qreal>(i);
        paintLine(painter, lane.above, {x, middle}, {x, qreal(box.top())});
        paintLine(painter, lane.below, {x, qreal(box.bottom() + 1)}, {x, middle});
        const QPointF end = sign - QPointF(railSignRadius + (lane.isTarget ? 2 * arrowSize : 0), 0);
        paintLine(painter, lane.tick, {x, middle}, end);
        if (lane.isTarget)
            paintArrow(painter, lane.tick, sign - QPointF(railSignRadius + 1, 0), {1, 0});
    }
    paintSign(painter, sign, pill);
    painter.restore();
}

void paintTwoLines(QPainter &painter, const QRect &box, const QString &first, const QString &second,
                   Qt::Alignment alignment, bool isName)
{
    const Tokens &t = Theme::tokens();
    const QFont upper = textFont(13, isName ? QFont::DemiBold : QFont::Normal), lower = textFont(12);
    const QRectF top(box.left(), box.top(), box.width(), box.height() / 2.0);
    const QRectF bottom = top.translated(0, top.height());
    const auto drawIn = [&](const QRectF &line, const QFont &font, const QColor &color, const QString &text) {
        painter.setFont(font);
        painter.setPen(color);
        const auto shown = elidedClient(QFontMetricsF(font), text, line.width(), Qt::ElideRight);
        if (alignment == Qt::AlignRight && shown == text)
            drawTabular(painter, line, alignment | Qt::AlignVCenter, text);
        else
            painter.drawText(line, int(alignment | Qt::AlignVCenter) | Qt::TextSingleLine, shown);
    };
    // Of one line it stands in the middle.
    drawIn(second.isEmpty() ? QRectF(box) : top, upper, t.text, first);
    drawIn(bottom, lower, t.muted, second);
}

// Of that role the one that is chosen, else the first of which the server tells something.
const Contender *clientOf(const inspect::LockSnapshot &lock, Role role, const QByteArray &chosen)
{
    const Contender *first = nullptr;
    for (const auto &one : lock.contenders) {
        if (one.role != role || !one.work)
            continue;
        if (one.id == chosen)
            return &one;
        first = first ? first : &one;
    }
    return first;
}

} // namespace

class QueueDelegate : public CellDelegate {
    Q_OBJECT
public:
    QueueDelegate(const QueueModel &model, QObject *parent) : CellDelegate(parent), m_model(model) {}

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        if (index.column() > QueueModel::Age)
            return CellDelegate::paint(painter, option, index);
        const Tokens &t = Theme::tokens();
        const int row = index.row();
        const QRect box = option.rect;
        const auto *view = qobject_cast<const QAbstractItemView *>(option.widget);
        painter->fillRect(box, option.state & QStyle::State_Selected ? t.selection : t.panel);
        painter->fillRect(QRect(box.left(), box.bottom(), box.width(), 1), t.line);
        const QRect inside = box.adjusted(padding, 3, -padding, -4);
        switch (index.column()) {
        case QueueModel::Place:
            paintRails(*painter, box, m_model.railAt(row), m_model.pillAt(row));
            if (view && view->hasFocus() && view->currentIndex().row() == row)
                painter->fillRect(QRect(box.left(), box.top(), 3, box.height() - 1), t.accent);
            break;
        case QueueModel::Who:
            paintTwoLines(*painter, inside, m_model.nameAt(row), m_model.originAt(row), Qt::AlignLeft, true);
            break;
        case QueueModel::Watched:
            paintTwoLines(*painter, inside, m_model.watchedAt(row), m_model.evidenceAt(row), Qt::AlignLeft, false);
            break;
        default:
            paintTwoLines(*painter, inside, index.data().toString(), m_model.stateAt(row), Qt::AlignRight, false);
            break;
        }
    }

private:
    [[nodiscard]] CellLook look(const QModelIndex &index) const override
    {
        const Tokens &t = Theme::tokens();
        CellLook cell{textFont(), t.text, Qt::ElideMiddle, {}, false, false};
        switch (index.column()) {
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

    const QueueModel &m_model;
};

QueueTable::QueueTable(QueueModel &model, Columns columns, QWidget *parent)
    : QTableView(parent), m_model(model), m_columns(columns)
{
    setModel(&model);
    setItemDelegate(new QueueDelegate(model, this));
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
        const auto needsRoom = [this](int column) { return widthOfTime(column) > columnWidth(column); };
        if (m_columns == Columns::Queue && (needsRoom(QueueModel::Age) || needsRoom(QueueModel::Ttl)))
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

int QueueTable::widthOfTime(int column) const
{
    constexpr int usual = 84;
    return isColumnHidden(column) ? 0 : std::max(usual, sizeHintForColumn(column));
}

// What follows the last row stands right below it.
void QueueTable::fitHeight()
{
    if (m_columns == Columns::Raw)
        return;
    const int row = shownSize(tallRowHeight);
    if (verticalHeader()->defaultSectionSize() != row)
        verticalHeader()->setDefaultSectionSize(row);
    setMaximumHeight(horizontalHeader()->sizeHint().height() + m_model.rowCount() * row + 2 * frameWidth());
}

void QueueTable::fitColumns()
{
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
    setColumnHidden(QueueModel::Ttl, !m_model.hasTtl() || m_tools->hides(QueueModel::Ttl));
    for (const auto column : {QueueModel::Place, QueueModel::Watched, QueueModel::Age})
        setColumnHidden(column, m_tools->hides(column));
    const int place = isColumnHidden(QueueModel::Place) ? 0 : railsWidth;
    const int age = widthOfTime(QueueModel::Age), ttl = widthOfTime(QueueModel::Ttl);
    const int rest = std::max(0, width - place - age - ttl);
    const int watched = isColumnHidden(QueueModel::Watched) ? 0 : std::clamp(rest * 32 / 100, 90, 240);
    setColumnWidth(QueueModel::Place, place);
    setColumnWidth(QueueModel::Who, rest - watched);
    setColumnWidth(QueueModel::Watched, watched);
    setColumnWidth(QueueModel::Age, age);
    setColumnWidth(QueueModel::Ttl, ttl);
}

StatementPair::StatementPair(QWidget *parent) : QWidget(parent), m_blocking(makeSide()), m_blocked(makeSide())
{
    named(this, u"statements"_s, tr("Statements"));
    makeRow(this, {.margins = {16, 8, 16, 8}, .spacing = 16}, {{m_blocking.box, 1}, {m_blocked.box, 1}});
    hide();
}

StatementPair::Side StatementPair::makeSide()
{
    Side side{};
    side.box = new QWidget(this);
    side.role = makeLabel({}, u"section"_s, side.box);
    side.since = makeLabel({}, u"muted"_s, side.box);
    side.client = new ElidedLabel(side.box);
    side.client->setFont(textFont(13, QFont::DemiBold));
    side.statement = new WholeLinesLabel(side.box);
    side.statement->setProperty("look", u"code"_s);
    side.statement->setFont(monoFont(12));
    side.facts = makeWrapped({}, u"muted"_s, side.box);
    makeColumn(
        side.box, {.spacing = 4},
        {makeRow({}, {side.role, Stretch{1}, side.since}), side.client, side.statement, side.facts, Stretch{1}});
    return side;
}

void StatementPair::setRoom(Room room)
{
    for (auto *side : {&m_blocking, &m_blocked}) {
        side->statement->setMostLines(room == Room::OneLine ? 1 : room == Room::Little ? 2 : 5);
        side->client->setVisible(room != Room::OneLine);
        side->facts->setVisible(room == Room::Much);
    }
}

void StatementPair::show(const inspect::LockSnapshot &lock, const QByteArray &chosen, inspect::ServerTime now)
{
    const auto *holder = clientOf(lock, Role::Holder, chosen);
    const auto *waiter = clientOf(lock, Role::Waiter, chosen);
    setVisible(holder || waiter);
    if (isHidden())
        return;
    m_blocking.role->setText(tr("BLOCKING"));
    m_blocked.role->setText(tr("BLOCKED"));
    fill(m_blocking, lock, holder, now);
    fill(m_blocked, lock, waiter, now);
}

void StatementPair::fill(Side &side, const inspect::LockSnapshot &lock, const Contender *client,
                         inspect::ServerTime now) const
{
    side.box->setVisible(client);
    if (!client)
        return;
    const auto &work = *client->work;
    const auto span = [now](inspect::ServerTime since) {
        return formatDuration(std::max(std::chrono::milliseconds(0), now - since));
    };
    side.client->setText(whoIsByName(*client, lock.backend));
    side.since->setText(!work.since      ? QString()
                        : work.isRunning ? tr("runs for %1").arg(span(*work.since))
                                         : tr("idle for %1").arg(span(*work.since)));
    const auto statement = label(work.statement, int(work.statement.size()));
    side.statement->setText(!statement.isEmpty() ? statement
                            : work.isRunning     ? tr("The server does not report its statement.")
                                                 : tr("The server does not report its last statement."));
    side.statement->setToolTip(plainToolTip(statement));
    side.statement->setAccessibleName(
        (work.isRunning ? tr("Statement: %1") : tr("Last statement: %1")).arg(side.statement->text()));
    QStringList facts;
    if (client->identity && !client->identity->isEmpty())
        facts << tr("Account: %1").arg(label(*client->identity, 80));
    if (!work.application.isEmpty() && !client->program) // else it is the client's name
        facts << tr("Application: %1").arg(label(work.application, 80));
    if (work.transactionSince)
        facts << tr("Transaction: open for %1").arg(span(*work.transactionSince));
    if (work.rowsModified > 0)
        facts << tr("Lost if ended: %1").arg(amountOf(work.rowsModified, "modified row"_L1, "modified rows"_L1));
    for (const auto &limit : client->limits) {
        if (client->waitingSince && limit.setting.endsWith("wait_timeout"))
            facts << tr("Gives up in %1 (%2)")
                         .arg(span(now - (*client->waitingSince + limit.longest - now)), label(limit.setting, 60));
    }
    side.facts->setText(facts.join(u'\n'));
}

} // namespace lockscope::ui

#include "moc_queuetable.cpp"
#include "queuetable.moc"
