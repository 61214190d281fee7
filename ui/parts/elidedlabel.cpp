// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/elidedlabel.h"

#include <QPainter>
#include <QTextLayout>

#include <algorithm>

namespace lockscope::ui {

ElidedLabel::ElidedLabel(QWidget *parent) : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.setFont(font());
    painter.drawText(contentsRect(), static_cast<int>(alignment()),
                     fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width()));
}

WholeLinesLabel::WholeLinesLabel(QWidget *parent) : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setWordWrap(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
}

bool WholeLinesLabel::isCut() const
{
    return height() < QLabel::heightForWidth(width());
}

void WholeLinesLabel::setMostLines(int lines)
{
    if (std::exchange(m_mostLines, lines) != lines)
        updateGeometry();
}

int WholeLinesLabel::heightForWidth(int width) const
{
    const int all = QLabel::heightForWidth(width);
    return m_mostLines > 0 ? std::min(all, m_mostLines * fontMetrics().lineSpacing()) : all;
}

void WholeLinesLabel::paintEvent(QPaintEvent *event)
{
    if (!isCut()) {
        QLabel::paintEvent(event);
        return;
    }
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    const auto room = contentsRect();
    const int lineHeight = fontMetrics().lineSpacing();
    const int lines = room.height() / lineHeight;
    QTextLayout layout(text(), font());
    layout.beginLayout();
    for (int i = 0; i < lines; ++i) {
        auto line = layout.createLine();
        if (!line.isValid())
            break;
        line.setLineWidth(room.width());
        const bool isLast = i == lines - 1;
        const auto rest = text().mid(line.textStart(), isLast ? -1 : line.textLength());
        painter.drawText(QRect(room.left(), room.top() + i * lineHeight, room.width(), lineHeight), Qt::AlignVCenter,
                         isLast ? fontMetrics().elidedText(rest, Qt::ElideRight, room.width()) : rest);
    }
    layout.endLayout();
}

} // namespace lockscope::ui

#include "moc_elidedlabel.cpp"
