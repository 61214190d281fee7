// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/livetree.h"

#include "ui/parts/parts.h"
#include "ui/parts/tabletools.h"

#include <QPainter>
#include <QScrollBar>

#include <ranges>

namespace lockscope::ui {

namespace {

constexpr int leastOfAStretchedColumn = 140;
constexpr std::chrono::milliseconds measurePause(500);

constexpr int cellMargin = 10;
constexpr int lockWidth = 18;

void paintPadlock(QPainter &painter, const QRectF &rect, const QColor &colour)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF body(rect.left() + 1, rect.center().y() - 1, 10, 7);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawRoundedRect(body, 1.5, 1.5);
    painter.setPen(QPen(colour, 1.6));
    painter.setBrush(Qt::NoBrush);
    const QRectF shackle(body.left() + 2.2, body.top() - 4.5, 5.6, 8);
    painter.drawArc(shackle, 0, 180 * 16);
    painter.restore();
}

} // namespace

LiveTree::LiveTree(QWidget *parent) : QTreeView(parent)
{
    setUniformRowHeights(true);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollMode(ScrollPerPixel);
    setFrameShape(NoFrame);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    setIndentation(16);
    // Asking every row for its width is what freezes big trees.
    header()->setSectionResizeMode(QHeaderView::Interactive);
    header()->setResizeContentsPrecision(0);
    header()->setStretchLastSection(false);
    header()->setHighlightSections(false);
    header()->setMinimumSectionSize(40);
    // The style keeps room for a sort arrow; without it titles stand above their numbers.
    header()->setStyleSheet(QStringLiteral("QHeaderView::section { padding: 5px 1px 5px 10px; }"));
    connect(this, &QTreeView::expanded, this, &LiveTree::sightChanged);
    connect(this, &QTreeView::collapsed, this, &LiveTree::sightChanged);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &LiveTree::sightChanged);
    callAfter(m_measureSoon, measurePause, this, &LiveTree::measure);
    connect(this, &LiveTree::sightChanged, this, [this] { m_measureSoon.start(); });
    connect(header(), &QHeaderView::sectionResized, this, [this](int column) {
        if (!m_isFitting && column != m_stretched)
            m_dragged.insert(column);
    });
}

TreeCellDelegate *LiveTree::becomeTable(const QString &accessibleName)
{
    setRootIsDecorated(false);
    setAccessibleName(accessibleName);
    auto *cells = new TreeCellDelegate(this);
    cells->setIndented(false);
    cells->setHairlines(true);
    setItemDelegate(cells);
    return cells;
}

void LiveTree::setWidths(int stretched, std::initializer_list<std::pair<int, int>> widths)
{
    m_stretched = stretched;
    m_usual = widths;
    header()->setSectionResizeMode(stretched, QHeaderView::Stretch);
    m_isFitting = true;
    for (const auto &[column, width] : widths)
        setColumnWidth(column, width);
    m_isFitting = false;
    if (!m_tools) {
        m_tools = new TableTools(*this, *header(), {stretched, Qt::DisplayRole, {}});
        connect(m_tools, &TableTools::columnsChosen, this, &LiveTree::fit);
    }
    const auto soon = [this] {
        if (isVisible() && !m_measureSoon.isActive()) // rows may change all the time
            m_measureSoon.start();
    };
    connect(model(), &QAbstractItemModel::rowsInserted, this, soon);
    connect(model(), &QAbstractItemModel::dataChanged, this, soon);
    connect(model(), &QAbstractItemModel::layoutChanged, this, soon);
}

void LiveTree::restoreColumns(const QByteArray &saved)
{
    m_isFitting = true;
    header()->restoreState(saved);
    header()->setStretchLastSection(false);
    for (const auto &[column, width] : m_usual) {
        const bool isHidden = isColumnHidden(column);
        setColumnHidden(column, false); // a hidden one says that it is 0 wide and needs as much
        header()->setSectionResizeMode(column, QHeaderView::Interactive);
        setColumnWidth(column, std::max({columnWidth(column), header()->sectionSizeHint(column), width / 2}));
        setColumnHidden(column, isHidden);
    }
    if (m_stretched >= 0)
        header()->setSectionResizeMode(m_stretched, QHeaderView::Stretch);
    m_isFitting = false;
    fit();
}

// The whole row, branches included, as our tables draw it.
void LiveTree::drawRow(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    constexpr int barWidth = 3;
    const Tokens &tokens = Theme::tokens();
    const QRect row(0, option.rect.top(), viewport()->width(), option.rect.height());
    QStyleOptionViewItem plain = option;
    if (selectionModel()->isRowSelected(index.row(), index.parent()))
        painter->fillRect(row, tokens.selection);
    if (hasFocus() && currentIndex().siblingAtColumn(0) == index.siblingAtColumn(0))
        painter->fillRect(QRect(row.left(), row.top(), barWidth, row.height()), tokens.accent);
    plain.showDecorationSelected = false;
    plain.state &= ~(QStyle::State_Selected | QStyle::State_HasFocus);
    QTreeView::drawRow(painter, plain, index);
}

void LiveTree::resizeEvent(QResizeEvent *event)
{
    QTreeView::resizeEvent(event);
    fit();
    emit sightChanged();
}

void LiveTree::showEvent(QShowEvent *event)
{
    QTreeView::showEvent(event);
    fit();
    m_measureSoon.start();
}

// On a projector all text is larger.
void LiveTree::changeEvent(QEvent *event)
{
    QTreeView::changeEvent(event);
    if (event->type() != QEvent::FontChange)
        return;
    m_needed.clear();
    m_measureSoon.start();
}

void LiveTree::fit()
{
    if (!m_tools)
        return;
    m_isFitting = true;
    int room = viewport()->width() - m_leastStretched;
    const bool hasAllRoom = m_leastStretched == 0 || !isVisible(); // or is not laid out yet
    for (const auto &[column, width] : m_usual) {
        const bool isChosenAway = m_tools->hides(column);
        room -= isChosenAway ? 0 : width;
        setColumnHidden(column, m_tools->hides(column, hasAllRoom || room >= 0));
    }
    m_isFitting = false;
    if (isVisible())
        shareOut();
}

void LiveTree::measure()
{
    const auto *cells = qobject_cast<const TreeCellDelegate *>(itemDelegate());
    if (!cells || m_usual.empty() || !isVisible())
        return;
    for (const auto &[column, width] : m_usual)
        m_needed[column] = std::max(m_needed[column], header()->sectionSizeHint(column));
    const int bottom = viewport()->height();
    for (QModelIndex index = indexAt(QPoint(0, 0)); index.isValid() && visualRect(index).top() < bottom;
         index = indexBelow(index)) {
        for (const auto &[column, width] : m_usual)
            m_needed[column] = std::max(m_needed[column], cells->widthNeeded(index.siblingAtColumn(column)));
        const int indent = visualRect(index.siblingAtColumn(0)).left();
        m_needed[m_stretched] = std::max(m_needed[m_stretched], cells->widthNeeded(index.siblingAtColumn(m_stretched))
                                                                    + (m_stretched == 0 ? std::max(0, indent) : 0));
    }
    shareOut();
}

void LiveTree::measureAnew()
{
    m_needed.clear();
    m_measureSoon.start();
}

// Nothing is cut while there is room, and what the stretched column names last: what others have beyond their need or
// their usual width is taken from them where something lacks room.
void LiveTree::shareOut()
{
    if (m_stretched < 0 || m_needed.empty())
        return;
    struct Share {
        int column, width, usual, needed;
    };
    std::vector<Share> shares;
    const int least = std::max(m_leastStretched, leastOfAStretchedColumn);
    const int whole = std::max(leastOfAStretchedColumn, m_needed[m_stretched]); // a shorter name gives room
    int room = viewport()->width();                                             // of the stretched one
    int lacking = 0;
    for (const auto &[column, usual] : m_usual) {
        if (isColumnHidden(column))
            continue;
        room -= columnWidth(column);
        if (m_dragged.contains(column))
            continue;
        shares.push_back({column, columnWidth(column), shownSize(usual), m_needed[column]});
        lacking += std::max(0, shares.back().needed - shares.back().width);
    }
    const auto take = [&](int Share::*down, int wanted) {
        for (auto &share : std::ranges::reverse_view(shares)) {
            const int taken = std::clamp(share.width - share.*down, 0, std::max(0, wanted - room));
            share.width -= taken;
            room += taken;
        }
    };
    const auto grow = [&](int keep, int most) {
        for (auto &one : shares) {
            const int wanted = std::min(one.needed, one.usual * most);
            const int extra = std::clamp(wanted - one.width, 0, std::max(0, room - keep));
            one.width += extra;
            room -= extra;
        }
    };
    take(&Share::needed, whole + lacking);
    take(&Share::usual, whole);
    grow(least, 1);
    grow(whole, 2);
    grow(whole, 100);
    m_isFitting = true;
    for (const auto &one : shares)
        setColumnWidth(one.column, one.width);
    m_isFitting = false;
}

void LiveTree::holdPlace()
{
    // At the very top new rows may push in; anywhere else nothing jumps.
    m_held =
        verticalScrollBar()->value() > 0 ? QPersistentModelIndex(indexAt(QPoint(0, 0))) : QPersistentModelIndex();
    if (m_held.isValid())
        m_heldAt = visualRect(m_held).top();
}

void LiveTree::keepPlace()
{
    if (m_held.isValid()) {
        const int moved = visualRect(m_held).top() - m_heldAt; // lays out what is pending
        if (moved != 0)
            verticalScrollBar()->setValue(verticalScrollBar()->value() + moved);
    }
    m_held = QPersistentModelIndex();
}

std::vector<QModelIndex> LiveTree::expandedOnScreen() const
{
    std::vector<QModelIndex> found;
    const auto add = [&](QModelIndex index) {
        for (; index.isValid() && std::find(found.begin(), found.end(), index) == found.end(); index = index.parent())
            found.push_back(index);
    };
    const int bottom = viewport()->height();
    for (QModelIndex index = indexAt(QPoint(0, 0)); index.isValid() && visualRect(index).top() < bottom;
         index = indexBelow(index)) {
        if (isExpanded(index))
            add(index);
        else
            add(index.parent());
    }
    return found;
}

int TreeCellDelegate::widthNeeded(const QModelIndex &index) const
{
    const QFont font = m_mono.contains(index.column()) ? monoFont() : textFont();
    return static_cast<int>(tabularWidth(font, index.data().toString().left(300))) + 2 * cellMargin + 2;
}

QColor TreeCellDelegate::textColor(const QModelIndex &index) const
{
    const Tokens &tokens = Theme::tokens();
    if (m_isStale)
        return tokens.muted;
    if (m_toneRole >= 0) {
        const QVariant tone = index.data(m_toneRole);
        if (tone.isValid())
            return toneColor(tokens, static_cast<Tone>(tone.toInt()));
    }
    return m_muted.contains(index.column()) ? tokens.muted : tokens.text;
}

void TreeCellDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    // Over what the style made of the selection: gradients and frames.
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, Theme::tokens().selection);
    if (m_hasHairlines)
        painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1),
                          Theme::tokens().line);
    const auto alignmentValue = index.data(Qt::TextAlignmentRole);
    const auto alignment = alignmentValue.isValid() ? alignmentValue.value<Qt::Alignment>()
                                                    : Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter);
    const bool isTreeColumn = m_isIndented && index.column() == 0;
    QRectF rect = QRectF(option.rect).adjusted(isTreeColumn ? 2 : cellMargin, 0, -cellMargin, 0);
    const QColor colour = textColor(index);
    painter->save();
    if (isTreeColumn && m_lockRole >= 0 && index.data(m_lockRole).toBool()) {
        paintPadlock(*painter, rect, m_isStale ? colour : Theme::tokens().warning);
        rect.setLeft(rect.left() + lockWidth);
    }
    painter->setPen(colour);
    const QFont font = m_mono.contains(index.column()) ? monoFont() : textFont();
    painter->setFont(font);
    const QString text = index.data().toString();
    if ((alignment & Qt::AlignRight) && tabularWidth(font, text) <= rect.width())
        drawTabular(*painter, rect, alignment, text);
    else
        painter->drawText(rect, static_cast<int>(alignment) | Qt::TextSingleLine,
                          QFontMetricsF(font).elidedText(text, isTreeColumn ? Qt::ElideMiddle : Qt::ElideRight,
                                                         rect.width())); // sequence numbers stand at the end
    painter->restore();
}

} // namespace lockscope::ui

#include "moc_livetree.cpp"
