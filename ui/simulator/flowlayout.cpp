// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/flowlayout.h"

#include <algorithm>

namespace lockscope::ui {

FlowLayout::FlowLayout(int spacing, QWidget *parent) : QLayout(parent)
{
    setSpacing(spacing);
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout()
{
    qDeleteAll(m_items);
}

QLayoutItem *FlowLayout::takeAt(int index)
{
    return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

void FlowLayout::setGeometry(const QRect &rect)
{
    QLayout::setGeometry(rect);
    layOut(rect, true);
}

QSize FlowLayout::sizeHint() const
{
    int width = 0;
    for (const auto *item : m_items)
        width += item->isEmpty() ? 0 : item->sizeHint().width() + spacing();
    return {width, minimumSize().height()};
}

QSize FlowLayout::minimumSize() const
{
    QSize size;
    for (const auto *item : m_items)
        size = size.expandedTo(item->isEmpty() ? QSize() : item->minimumSize());
    return size;
}

int FlowLayout::layOut(const QRect &rect, bool isReal) const
{
    int x = rect.left();
    int y = rect.top();
    int lineHeight = 0;
    for (auto *item : m_items) {
        if (item->isEmpty())
            continue;
        const QSize size = item->sizeHint();
        if (x > rect.left() && x + size.width() > rect.left() + rect.width()) {
            x = rect.left();
            y += lineHeight + spacing();
            lineHeight = 0;
        }
        if (isReal)
            item->setGeometry(QRect(QPoint(x, y), QSize(std::min(size.width(), rect.width()), size.height())));
        x += size.width() + spacing();
        lineHeight = std::max(lineHeight, size.height());
    }
    return y + lineHeight - rect.top();
}

} // namespace lockscope::ui
