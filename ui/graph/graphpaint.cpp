// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphview.h"

#include <QPainter>

#include <cmath>

namespace lockscope::ui {

using Kind = GraphNode::Kind;
using Mark = GraphNode::Mark;

namespace {

struct NodePaint {
    QColor line, fill;
    qreal width = 1.4;
    PillShape shape = PillShape::None;
};

NodePaint paintOf(const GraphNode &node, const Tokens &t)
{
    if (node.mark == Mark::Cycle)
        return {t.critical, t.criticalSoft, 3, PillShape::Cross};
    if (node.mark == Mark::Root)
        return {t.warning, t.warningSoft, 3, PillShape::Disc};
    if (node.isFold())
        return {t.free, t.freeSoft, 1.4, PillShape::None};
    return {node.kind == Kind::Client ? t.wait : t.hold, t.panel, 1.4, PillShape::None};
}

void drawOutline(QPainter &painter, Kind kind, const QRectF &box)
{
    const bool isRound = kind == Kind::Client || kind == Kind::Waiters;
    const qreal radius = isRound ? box.height() / 2 : 2;
    painter.drawRoundedRect(box, radius, radius);
}

void drawText(QPainter &painter, const QRectF &rect, const QString &text)
{
    painter.drawText(rect, Qt::AlignCenter | Qt::TextSingleLine,
                     elidedClient(QFontMetricsF(painter.font()), text, rect.width(), Qt::ElideMiddle));
}

void drawTip(QPainter &painter, QPointF tip, qreal angle, const QColor &colour)
{
    painter.save();
    painter.translate(tip);
    painter.rotate(angle);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const QPointF head[] = {{0, 0}, {-11, -5}, {-11, 5}};
    painter.drawPolygon(head, 3);
    painter.restore();
}

QPen penOf(const QColor &colour, qreal width, bool isDashed)
{
    QPen pen(colour, width, Qt::SolidLine, Qt::FlatCap);
    if (isDashed)
        pen.setDashPattern({4, 3});
    return pen;
}

} // namespace

void paintGraphNode(QPainter &painter, const GraphNode &node, const QRectF &box, NodeLook look)
{
    const Tokens &t = Theme::tokens();
    const auto paint = paintOf(node, t);
    painter.setPen(penOf(paint.line, paint.width, node.isFold()));
    painter.setBrush(paint.fill);
    drawOutline(painter, node.kind, box);
    if (node.isFold()) { // several, one behind the other
        painter.setBrush(Qt::NoBrush);
        drawOutline(painter, node.kind, box.adjusted(4, 4, -4, -4));
    }
    if (look != NodeLook::Usual) {
        painter.setPen(QPen(t.accent, look == NodeLook::CurrentWithFocus ? 2.6 : 1.6));
        painter.setBrush(Qt::NoBrush);
        drawOutline(painter, node.kind, box.adjusted(-5, -5, 5, 5));
    }
    const qreal side = node.kind == Kind::Client || node.kind == Kind::Waiters ? 18 : 10;
    QRectF upper(box.left() + side, box.top() + 4, box.width() - 2 * side, (box.height() - 8) / 2);
    const QRectF lower = upper.translated(0, upper.height());
    const bool isMono = node.kind == Kind::Lock;
    painter.setFont(isMono ? monoFont(12, QFont::DemiBold) : textFont(13, QFont::DemiBold));
    if (paint.shape != PillShape::None) {
        const qreal width = std::min(QFontMetricsF(painter.font()).horizontalAdvance(node.title), upper.width() - 16);
        const qreal left = upper.center().x() - (width + 16) / 2;
        paintShape(painter, QRectF(left, upper.top(), 12, upper.height()), paint.shape, paint.line);
        upper = {left + 16, upper.top(), width + 1, upper.height()};
    }
    painter.setPen(t.text);
    drawText(painter, upper, node.title);
    painter.setFont(textFont(11, node.mark == Mark::None ? QFont::Normal : QFont::DemiBold));
    painter.setPen(node.mark == Mark::None ? t.muted : paint.line);
    drawText(painter, lower, node.note);
}

void paintGraphLine(QPainter &painter, const GraphArc &arc, const GraphLine &line, bool isThick)
{
    const Tokens &t = Theme::tokens();
    const QColor colour = arc.isCycle ? t.critical : arc.holds ? t.hold : t.wait;
    painter.setPen(penOf(colour, arc.isCycle || isThick ? 3 : 1.8, !arc.holds));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(line.path);
    if (!arc.holds)
        drawTip(painter, line.tip, line.tipAngle, colour);
}

GraphLegend::GraphLegend(QWidget *parent) : QWidget(parent)
{
    setAccessibleName(
        u"Legend: round is a client, with corners a lock. A solid line holds, a dashed arrow waits for. A cross and "
        u"a thick border stand for a deadlock, a disc and a thick border for a root blocker."_s);
    setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
}

qreal GraphLegend::draw(QPainter *painter) const
{
    const Tokens &t = Theme::tokens();
    const QFontMetricsF metrics(textFont(12));
    qreal x = 2;
    const qreal middle = height() / 2.0;
    const auto say = [&](const QString &words) {
        const qreal width = std::ceil(metrics.horizontalAdvance(words)) + 2;
        if (painter) {
            painter->setFont(textFont(12));
            painter->setPen(t.muted);
            painter->drawText(QRectF(x, 0, width, height()), Qt::AlignVCenter | Qt::AlignLeft, words);
        }
        x += width + 16;
    };
    const auto shape = [&](Kind kind, Mark mark, const QString &words) {
        const QRectF box(x, middle - 7, 26, 14);
        if (painter) {
            GraphNode node;
            node.kind = kind;
            node.mark = mark;
            const auto paint = paintOf(node, t);
            painter->setPen(penOf(paint.line, paint.width, false));
            painter->setBrush(paint.fill);
            drawOutline(*painter, kind, box);
            paintShape(*painter, box, paint.shape, paint.line);
        }
        x += 32;
        say(words);
    };
    const auto line = [&](bool holds, const QString &words) {
        if (painter) {
            GraphLine one;
            one.path.moveTo(x, middle);
            one.path.lineTo(x + 34, middle);
            one.tip = {x + 34, middle};
            paintGraphLine(*painter, {0, 0, holds, false}, one, false);
        }
        x += 40;
        say(words);
    };
    shape(Kind::Client, Mark::None, u"client"_s);
    shape(Kind::Lock, Mark::None, u"lock"_s);
    line(true, u"holds"_s);
    line(false, u"waits for"_s);
    shape(Kind::Client, Mark::Cycle, u"deadlock"_s);
    shape(Kind::Client, Mark::Root, u"root blocker"_s);
    return x - 14;
}

void GraphLegend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    draw(&painter);
}

} // namespace lockscope::ui
