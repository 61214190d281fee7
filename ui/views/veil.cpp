// SPDX-License-Identifier: Apache-2.0
#include "ui/views/veil.h"

#include "ui/theme/theme.h"

#include <QEvent>
#include <QPainter>

namespace lockscope::ui {

Veil::Veil(QWidget *covered) : QWidget(covered)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    covered->installEventFilter(this);
    hide();
}

void Veil::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    QColor sheet = Theme::tokens().background;
    sheet.setAlphaF(0.55f);
    painter.fillRect(rect(), sheet);
}

bool Veil::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && (event->type() == QEvent::Resize || event->type() == QEvent::ChildAdded)) {
        resize(parentWidget()->size());
        raise();
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace lockscope::ui
