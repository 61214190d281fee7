// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/boxview.h"

#include "ui/theme/text.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>

namespace lockscope::ui {

BoxView::BoxView(QWidget *parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
}

void BoxView::zoomBy(int steps)
{
    setZoom(steps == 0 ? 1 : m_zoom * std::pow(1.15, steps));
}

QPointF BoxView::origin() const
{
    return {-qreal(horizontalScrollBar()->value()), -qreal(verticalScrollBar()->value())};
}

QRectF BoxView::boxOnScreen(int box) const
{
    const QRectF there = boxOf(box);
    return {origin() + there.topLeft() * m_zoom, there.size() * m_zoom};
}

int BoxView::boxAt(QPoint position) const
{
    const QPointF at = (position - origin()) / m_zoom;
    for (int box = 0; box < boxCount(); ++box) {
        if (boxOf(box).contains(at))
            return box;
    }
    return -1;
}

void BoxView::fitBars(QSizeF plane)
{
    const QSize content = (plane * m_zoom).toSize();
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setRange(0, std::max(0, content.width() - viewport()->width()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, content.height() - viewport()->height()));
}

void BoxView::scrollBy(QPoint by)
{
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() + by.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + by.y());
}

void BoxView::reveal(int box, int margin)
{
    const QRect target = boxOnScreen(box).toAlignedRect().adjusted(-margin, -margin, margin, margin);
    const auto distance = [](int from, int upTo, int page) { return from < 0 ? from : std::max(0, upTo - page); };
    scrollBy({distance(target.left(), target.right(), viewport()->width()),
              distance(target.top(), target.bottom(), viewport()->height())});
}

void BoxView::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(1); return;
    case Qt::Key_Minus: zoomBy(-1); return;
    case Qt::Key_0: zoomBy(0); return;
    default: QAbstractScrollArea::keyPressEvent(event);
    }
}

void BoxView::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ControlModifier) {
        zoomBy(event->angleDelta().y() > 0 ? 1 : -1);
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

bool BoxView::viewportEvent(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QAbstractScrollArea::viewportEvent(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const int box = boxAt(help->pos());
    QToolTip::showText(help->globalPos(), box < 0 ? QString() : plainToolTip(tipOf(box)), viewport());
    return true;
}

} // namespace lockscope::ui

#include "moc_boxview.cpp"
