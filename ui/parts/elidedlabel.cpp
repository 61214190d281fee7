// SPDX-License-Identifier: Apache-2.0
#include "ui/parts/elidedlabel.h"

#include <QPainter>
#include <QTextLayout>

#include <algorithm>
#include <vector>

namespace lockscope::ui {

namespace {

// The lines into which a text falls at that width: where each begins, and how long it is.
std::vector<std::pair<int, int>> linesOf(const QString &text, const QFont &font, int width)
{
    std::vector<std::pair<int, int>> lines;
    QTextLayout layout(text, font);
    layout.beginLayout();
    for (auto line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        lines.emplace_back(line.textStart(), line.textLength());
    }
    layout.endLayout();
    return lines;
}

} // namespace

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

// Asked while it is painted: QLabel::heightForWidth() lays the text out anew, which asks for the next painting.
bool WholeLinesLabel::isCut() const
{
    const auto lines = static_cast<int>(linesOf(text(), font(), contentsRect().width()).size());
    return linesThatFit() < lines;
}

// Of its last line a pixel may be missing: layouts and metrics round differently.
int WholeLinesLabel::linesThatFit() const
{
    return (contentsRect().height() + 1) / fontMetrics().lineSpacing();
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
    const auto lines = linesOf(text(), font(), room.width());
    const int shown = std::min(linesThatFit(), static_cast<int>(lines.size()));
    for (int i = 0; i < shown; ++i) {
        const auto [start, length] = lines[static_cast<std::size_t>(i)];
        const bool isLast = i == shown - 1;
        const auto rest = text().mid(start, isLast ? -1 : length);
        painter.drawText(QRect(room.left(), room.top() + i * lineHeight, room.width(), lineHeight), Qt::AlignVCenter,
                         isLast ? fontMetrics().elidedText(rest, Qt::ElideRight, room.width()) : rest);
    }
}

} // namespace lockscope::ui

#include "moc_elidedlabel.cpp"
