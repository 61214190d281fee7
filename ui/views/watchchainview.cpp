// SPDX-License-Identifier: Apache-2.0
#include "ui/views/watchchainview.h"

#include "core/base/text.h"
#include "ui/theme/text.h"
#include "ui/theme/theme.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

namespace lockscope::ui {

namespace {

void drawTip(QPainter &painter, const ChainArrow &arrow, const QColor &colour)
{
    painter.save();
    painter.translate(arrow.tip);
    painter.rotate(arrow.tipAngle);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const QPointF head[] = {{0, 0}, {-10, -5}, {-10, 5}};
    painter.drawPolygon(head, 3);
    painter.restore();
}

void drawArrow(QPainter &painter, const ChainArrow &arrow, const Tokens &t)
{
    const QColor colour = arrow.seen ? t.accent : t.muted;
    QPen pen(colour, 1.8);
    if (!arrow.seen)
        pen.setDashPattern({3, 2.4});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(arrow.path);
    drawTip(painter, arrow, colour);
    if (!arrow.showWord)
        return;
    painter.setFont(textFont(11));
    painter.setPen(colour);
    painter.drawText(QRectF(arrow.wordAt - QPointF(40, 8), QSizeF(80, 16)), Qt::AlignCenter,
                     arrow.seen ? u"seen"_s : u"inferred"_s);
}

void drawElided(QPainter &painter, const QRectF &rect, int flags, const QString &text)
{
    painter.drawText(rect, flags | Qt::TextSingleLine,
                     elidedClient(QFontMetricsF(painter.font()), text, rect.width(), Qt::ElideMiddle));
}

void drawCompact(QPainter &painter, const ChainBox &box, const Tokens &t)
{
    QRectF line = box.box.adjusted(8, 0, -8, 0);
    if (box.kind == ChainBox::Kind::More) {
        painter.setFont(textFont(12));
        painter.setPen(t.accent);
        painter.drawText(line, Qt::AlignCenter, box.title);
        return;
    }
    paintShape(painter, QRectF(line.left(), line.top(), 10, line.height()), box.pill.shape,
               toneColor(t, box.pill.tone));
    painter.setFont(monoFont(12, QFont::DemiBold));
    painter.setPen(toneColor(t, box.pill.tone));
    drawElided(painter, line.adjusted(17, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, box.title);
    const qreal after = 17 + QFontMetricsF(painter.font()).horizontalAdvance(box.title) + 12;
    painter.setFont(textFont(12));
    painter.setPen(t.muted);
    const qreal ageWidth = tabularWidth(painter.font(), box.age);
    drawTabular(painter, line, Qt::AlignRight, box.age);
    painter.setPen(t.text);
    drawElided(painter, line.adjusted(after, 0, -ageWidth - 10, 0), Qt::AlignVCenter | Qt::AlignLeft, box.who);
}

void drawTall(QPainter &painter, const ChainBox &box, const Tokens &t)
{
    const bool hasName = !box.name.isEmpty();
    const qreal edge = box.box.height() < 70 ? 3 : 8; // a low one keeps its lines' height
    const QRectF inside = box.box.adjusted(6, edge, -6, -edge);
    const qreal height = inside.height() / (hasName ? 4 : 3);
    const auto line = [&](int number) {
        return QRectF(inside.left(), inside.top() + number * height, inside.width(), height);
    };
    const QColor colour = toneColor(t, box.pill.tone);
    painter.setFont(monoFont(12, QFont::DemiBold));
    const bool hasShape = box.pill.shape != PillShape::None;
    const qreal titleWidth =
        std::min(QFontMetricsF(painter.font()).horizontalAdvance(box.title), inside.width() - 16);
    const qreal left = inside.center().x() - (titleWidth + (hasShape ? 16 : 0)) / 2;
    if (hasShape)
        paintShape(painter, QRectF(left, inside.top(), 10, height), box.pill.shape, colour);
    painter.setPen(colour);
    drawElided(painter, QRectF(left + (hasShape ? 16 : 0), inside.top(), titleWidth + 1, height), Qt::AlignVCenter,
               box.title);
    painter.setFont(textFont(12));
    painter.setPen(box.kind == ChainBox::Kind::More ? t.accent : t.text);
    if (hasName)
        drawElided(painter, line(1), Qt::AlignCenter, box.name);
    if (hasName)
        painter.setPen(t.muted);
    drawElided(painter, line(hasName ? 2 : 1), Qt::AlignCenter, box.who);
    painter.setPen(t.muted);
    drawTabular(painter, line(hasName ? 3 : 2), Qt::AlignHCenter, box.age);
}

void drawBox(QPainter &painter, const ChainBox &box, const Tokens &t, bool isCurrent, bool hasFocus)
{
    const QColor colour = toneColor(t, box.pill.tone);
    QPen border(box.kind == ChainBox::Kind::Contender ? colour : t.muted, 1.4);
    if (box.kind != ChainBox::Kind::Contender)
        border.setDashPattern({3, 2.4});
    painter.setPen(border);
    painter.setBrush(toneSoft(t, box.pill.tone));
    painter.drawRoundedRect(box.box, 7, 7);
    if (isCurrent) {
        painter.setPen(QPen(t.accent, hasFocus ? 2.4 : 1.4));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(box.box.adjusted(-3, -3, 3, 3), 9, 9);
    }
    if (box.compact)
        drawCompact(painter, box, t);
    else
        drawTall(painter, box, t);
}

} // namespace

WatchChainView::WatchChainView(QWidget *parent) : BoxView(parent)
{
    setObjectName(QStringLiteral("watchChain"));
    horizontalScrollBar()->setSingleStep(20);
    verticalScrollBar()->setSingleStep(20);
}

void WatchChainView::setSnapshot(std::shared_ptr<const inspect::LockSnapshot> lock)
{
    if (lock->lock != m_lock->lock) {
        m_whole = false;
        m_current.clear();
        horizontalScrollBar()->setValue(0);
        verticalScrollBar()->setValue(0);
    }
    m_lock = std::move(lock);
    m_facts = chainFactsOf(*m_lock);
    layOut();
}

void WatchChainView::setWhole(bool whole)
{
    m_whole = whole;
    layOut();
}

void WatchChainView::setZoom(qreal zoom)
{
    m_zoom = std::clamp(zoom, 0.4, 2.5);
    layOut();
}

void WatchChainView::layOut()
{
    const QString captionBefore = m_chain.caption;
    const int hiddenBefore = m_chain.hidden;
    m_chain = layOutChain(*m_lock, m_facts, m_clock(), QSizeF(viewport()->size()) / m_zoom, m_whole);
    fitBars(m_chain.size);
    if (m_chain.caption != captionBefore)
        emit captionChanged(m_chain.caption);
    if (m_chain.hidden != hiddenBefore)
        emit foldChanged();
    viewport()->update();
}

int WatchChainView::currentBox() const
{
    for (int box = 0; !m_current.isEmpty() && box < boxCount(); ++box) {
        if (at(box).contender == m_current)
            return box;
    }
    return -1;
}

QString WatchChainView::tipOf(int box) const
{
    const auto *contender = m_lock->find(at(box).contender);
    if (!contender)
        return {};
    const QString tip = label(contender->id, 400);
    if (!contender->session)
        return tip;
    return tip + u'\n' + infoOf(m_lock->backend).words.client + u' ' + label(contender->session->toUtf8());
}

void WatchChainView::setCurrentContender(const QByteArray &id)
{
    if (id == m_current)
        return;
    m_current = id;
    const int box = currentBox();
    if (box >= 0)
        reveal(box, 8);
    viewport()->update();
}

void WatchChainView::select(int index, bool tell)
{
    if (index < 0 || index >= boxCount())
        return;
    const ChainBox &box = at(index);
    if (box.kind == ChainBox::Kind::More) {
        setWhole(true);
        return;
    }
    if (box.kind != ChainBox::Kind::Contender)
        return;
    m_current = box.contender;
    const auto who = box.name.isEmpty() ? box.who : box.name + u", "_s + box.who;
    setAccessibleDescription(u"%1, %2, %3"_s.arg(box.title, who, box.age));
    reveal(index, 8);
    viewport()->update();
    if (tell)
        emit chosen(m_current);
}

void WatchChainView::contextMenuEvent(QContextMenuEvent *event)
{
    const int box = boxAt(event->pos());
    if (event->reason() == QContextMenuEvent::Keyboard || box < 0)
        return; // the key itself is taken below
    select(box, true);
    const auto &contender = at(box).contender;
    if (!contender.isEmpty())
        emit menuRequested(contender, event->globalPos());
}

void WatchChainView::keyPressEvent(QKeyEvent *event)
{
    const int current = currentBox();
    const bool isMenuKey =
        event->key() == Qt::Key_Menu || (event->key() == Qt::Key_F10 && event->modifiers() == Qt::ShiftModifier);
    if (isMenuKey && current >= 0) {
        emit menuRequested(m_current, viewport()->mapToGlobal(QPoint(24, 24)));
        return;
    }
    const int last = boxCount() - 1;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up: select(current < 0 ? 0 : std::max(0, current - 1), true); return;
    case Qt::Key_Right:
    case Qt::Key_Down: select(current < 0 ? 0 : std::min(last, current + 1), true); return;
    case Qt::Key_Home: select(0, true); return;
    case Qt::Key_End: select(last, true); return;
    default: BoxView::keyPressEvent(event);
    }
}

void WatchChainView::mousePressEvent(QMouseEvent *event)
{
    select(boxAt(event->pos()), true);
}

void WatchChainView::resizeEvent(QResizeEvent *event)
{
    BoxView::resizeEvent(event);
    layOut();
}

void WatchChainView::paintEvent(QPaintEvent *)
{
    const Tokens &t = Theme::tokens();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), t.panel);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(origin());
    painter.scale(m_zoom, m_zoom);
    for (const auto &arrow : m_chain.arrows)
        drawArrow(painter, arrow, t);
    const int current = currentBox();
    for (int box = 0; box < boxCount(); ++box)
        drawBox(painter, at(box), t, box == current, hasFocus());
}

} // namespace lockscope::ui

#include "moc_watchchainview.cpp"
