// SPDX-License-Identifier: Apache-2.0
#include "ui/graph/graphview.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>

namespace lockscope::ui {

namespace {

constexpr qreal leastZoom = 0.3;
constexpr qreal mostZoom = 2.5;

std::size_t place(int number)
{
    return static_cast<std::size_t>(number);
}

} // namespace

GraphView::GraphView(QWidget *parent) : QAbstractScrollArea(parent), m_sight(std::make_shared<GraphSight>())
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setObjectName(u"graphView"_s);
    setAccessibleName(u"Who waits for whom"_s);
    horizontalScrollBar()->setSingleStep(24);
    verticalScrollBar()->setSingleStep(24);
    viewport()->setMouseTracking(true);
    for (auto *bar : {horizontalScrollBar(), verticalScrollBar()}) // by somebody, not by what is shown
        connect(bar, &QScrollBar::actionTriggered, this, [this] { m_isTouched = true; });
}

void GraphView::show(std::shared_ptr<const GraphSight> sight)
{
    if (!sight->failure.isEmpty()) // nothing is drawn: nothing can be chosen
        sight = std::make_shared<GraphSight>();
    // What somebody looks at stays where it is: the chosen one, else the first on screen that is still there.
    std::optional<std::pair<QByteArray, QPointF>> anchor;
    const auto boxes = m_sight->layout.boxes;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const auto &key = m_sight->picture.nodes[i].key;
        const auto onScreen = boxOnScreen(static_cast<int>(i));
        const bool isBetter = key == m_current || (!anchor && viewport()->rect().intersects(onScreen.toRect()));
        if (isBetter && sight->picture.find(key) >= 0)
            anchor = {key, onScreen.topLeft()};
        if (anchor && anchor->first == m_current)
            break;
    }
    m_sight = std::move(sight);
    if (m_fits)
        m_zoom = fittingZoom();
    fitBars();
    const int kept = anchor ? m_sight->picture.find(anchor->first) : -1;
    if (kept >= 0) {
        scrollBy((boxOnScreen(kept).topLeft() - anchor->second).toPoint());
    }
    showSubject();
    if (currentNode() < 0)
        m_current.clear();
    viewport()->update();
    emit zoomChanged();
}

bool GraphView::choose(const QByteArray &key)
{
    const int node = m_sight->picture.find(key);
    if (node >= 0)
        select(node);
    return node >= 0;
}

int GraphView::currentNode() const
{
    return m_current.isEmpty() ? -1 : m_sight->picture.find(m_current);
}

const GraphNode *GraphView::current() const
{
    const int node = currentNode();
    return node < 0 ? nullptr : &m_sight->picture.nodes[place(node)];
}

QPointF GraphView::origin() const
{
    // Smaller than the view: at its top, in its middle.
    const auto width = m_sight->layout.size.width() * m_zoom;
    const auto left = std::max(0.0, (viewport()->width() - width) / 2);
    return {left - horizontalScrollBar()->value(), -qreal(verticalScrollBar()->value())};
}

QRectF GraphView::boxOf(int node) const
{
    return m_sight->layout.boxes[place(node)];
}

QRectF GraphView::boxOnScreen(int node) const
{
    const QRectF there = boxOf(node);
    return {origin() + there.topLeft() * m_zoom, there.size() * m_zoom};
}

int GraphView::boxAt(QPoint position) const
{
    const QPointF at = (position - origin()) / m_zoom;
    const auto &boxes = m_sight->layout.boxes;
    const auto box = std::ranges::find_if(boxes, [at](const QRectF &one) { return one.contains(at); });
    return box == boxes.end() ? -1 : static_cast<int>(box - boxes.begin());
}

void GraphView::fitBars()
{
    const QSize content = (m_sight->layout.size * m_zoom).toSize();
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setRange(0, std::max(0, content.width() - viewport()->width()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, content.height() - viewport()->height()));
}

void GraphView::scrollBy(QPoint by)
{
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + by.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + by.y());
}

void GraphView::reveal(int node)
{
    constexpr int spare = 16;
    const QRect target = boxOnScreen(node).toAlignedRect().adjusted(-spare, -spare, spare, spare);
    const auto distance = [](int from, int upTo, int page) { return from < 0 ? from : std::max(0, upTo - page); };
    scrollBy({distance(target.left(), target.right(), viewport()->width()),
              distance(target.top(), target.bottom(), viewport()->height())});
}

qreal GraphView::fittingZoom() const
{
    const auto size = m_sight->layout.size;
    if (size.isEmpty())
        return 1;
    const auto wide = viewport()->width() / size.width(), high = viewport()->height() / size.height();
    // What cannot be seen whole at a size that can be read scrolls, up and down if that is enough.
    return std::clamp(std::min(wide, high) < leastReadableZoom ? wide : std::min(wide, high), leastReadableZoom, 1.0);
}

void GraphView::fit()
{
    m_fits = true;
    m_zoom = fittingZoom();
    fitBars();
    bringToMiddle(currentNode() >= 0 ? currentNode() : m_sight->subject);
    viewport()->update();
    emit zoomChanged();
}

void GraphView::zoomBy(int steps)
{
    setZoom(steps == 0 ? 1 : m_zoom * std::pow(1.15, steps));
}

void GraphView::setZoom(qreal zoom)
{
    m_fits = false;
    m_isTouched = true;
    const auto before = m_zoom;
    const QPointF middle = viewport()->rect().center();
    const QPointF at = (middle - origin()) / before;
    m_zoom = std::clamp(zoom, leastZoom, mostZoom);
    fitBars();
    scrollBy((origin() + at * m_zoom - middle).toPoint());
    viewport()->update();
    emit zoomChanged();
}

bool GraphView::isAllInSight() const
{
    return horizontalScrollBar()->maximum() == 0 && verticalScrollBar()->maximum() == 0;
}

void GraphView::showSubject()
{
    if (!m_isTouched)
        bringToMiddle(m_sight->subject);
}

// Unless it is in sight.
void GraphView::bringToMiddle(int node)
{
    if (node < 0 || node >= boxCount())
        return;
    const auto seen = viewport()->rect();
    const auto box = boxOnScreen(node).toAlignedRect();
    if (seen.contains(box))
        return;
    scrollBy(box.center() - seen.center());
}

void GraphView::select(int node)
{
    if (node < 0)
        return;
    const auto &chosen = m_sight->picture.nodes[place(node)];
    m_current = chosen.key;
    m_isTouched = true;
    setAccessibleDescription(chosen.spoken);
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    reveal(node);
    viewport()->update();
    emit currentChanged();
}

int GraphView::firstNode() const
{
    return m_sight->subject >= 0 ? m_sight->subject : m_sight->picture.nodes.empty() ? -1 : 0;
}

bool GraphView::isNeighbour(int a, int b) const
{
    return std::ranges::any_of(m_sight->picture.arcs, [a, b](const GraphArc &arc) {
        return (arc.client == a && arc.lock == b) || (arc.client == b && arc.lock == a);
    });
}

// Sideways along a line, where one leads there; else to the nearest that stands there.
void GraphView::walk(int key)
{
    const int from = currentNode();
    if (from < 0) {
        select(firstNode());
        return;
    }
    const bool isSideways = key == Qt::Key_Left || key == Qt::Key_Right;
    const qreal sign = key == Qt::Key_Left || key == Qt::Key_Up ? -1 : 1;
    const auto start = boxOf(from).center();
    int best = -1;
    qreal least = 0;
    for (int i = 0; i < boxCount(); ++i) {
        const QPointF way = boxOf(i).center() - start;
        const qreal along = (isSideways ? way.x() : way.y()) * sign;
        const qreal across = std::abs(isSideways ? way.y() : way.x());
        if (i == from || along < 1)
            continue;
        constexpr qreal farAway = 1e7;
        const bool isAway = isSideways ? !isNeighbour(from, i) : across > along * 2;
        const qreal distance = along + across * 2 + (isAway ? farAway : 0);
        if (best >= 0 && distance >= least)
            continue;
        best = i;
        least = distance;
    }
    select(best);
}

void GraphView::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down: walk(event->key()); return;
    case Qt::Key_Home: select(m_sight->picture.nodes.empty() ? -1 : 0); return;
    case Qt::Key_End: select(static_cast<int>(m_sight->picture.nodes.size()) - 1); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const auto *node = current())
            emit activated(GraphNode(*node));
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(1); return;
    case Qt::Key_Minus: zoomBy(-1); return;
    case Qt::Key_0: zoomBy(0); return;
    case Qt::Key_F:
        if (event->modifiers() == Qt::NoModifier) {
            fit();
            return;
        }
        break;
    default: break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

void GraphView::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ControlModifier)
        zoomBy(event->angleDelta().y() > 0 ? 1 : -1);
    else
        QAbstractScrollArea::wheelEvent(event);
}

bool GraphView::viewportEvent(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QAbstractScrollArea::viewportEvent(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const int node = boxAt(help->pos());
    const auto tip = node < 0 ? QString() : plainToolTip(m_sight->picture.nodes[place(node)].spoken);
    QToolTip::showText(help->globalPos(), tip, viewport());
    return true;
}

void GraphView::mousePressEvent(QMouseEvent *event)
{
    const int node = boxAt(event->pos());
    select(node);
    if (node < 0)
        m_dragged = event->pos();
    else if (m_sight->picture.nodes[place(node)].isFold())
        emit activated(GraphNode(m_sight->picture.nodes[place(node)]));
}

void GraphView::mouseMoveEvent(QMouseEvent *event)
{
    const bool isPressed = event->buttons() & Qt::LeftButton;
    viewport()->setCursor(boxAt(event->pos()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (!isPressed || !m_dragged) {
        m_dragged.reset();
        return;
    }
    scrollBy(*m_dragged - event->pos());
    m_dragged = event->pos();
    m_isTouched = true;
}

void GraphView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const int node = boxAt(event->pos());
    if (node >= 0)
        emit activated(GraphNode(m_sight->picture.nodes[place(node)]));
}

void GraphView::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    if (currentNode() < 0 && event->reason() != Qt::MouseFocusReason)
        select(firstNode());
    viewport()->update();
}

void GraphView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    if (m_fits)
        m_zoom = fittingZoom();
    fitBars();
    showSubject();
    emit zoomChanged();
    emit resized();
}

void GraphView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), Theme::tokens().panel);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(origin());
    painter.scale(m_zoom, m_zoom);
    const auto &[picture, layout] = std::tie(m_sight->picture, m_sight->layout);
    const int chosen = currentNode();
    const auto isThick = [&](const GraphArc &arc) { return arc.client == chosen || arc.lock == chosen; };
    for (const bool cycles : {false, true}) { // those of a deadlock over all others
        for (std::size_t i = 0; i < layout.lines.size(); ++i) {
            if (picture.arcs[i].isCycle == cycles)
                paintGraphLine(painter, picture.arcs[i], layout.lines[i], isThick(picture.arcs[i]));
        }
    }
    const auto look = hasFocus() ? NodeLook::CurrentWithFocus : NodeLook::Current;
    for (std::size_t i = 0; i < layout.boxes.size(); ++i)
        paintGraphNode(painter, picture.nodes[i], layout.boxes[i],
                       static_cast<int>(i) == chosen ? look : NodeLook::Usual);
}

} // namespace lockscope::ui

#include "moc_graphview.cpp"
