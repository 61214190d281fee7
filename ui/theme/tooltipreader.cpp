// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/tooltipreader.h"

#include <QEvent>
#include <QTextDocumentFragment>
#include <QVariant>
#include <QWidget>

namespace lockscope::ui {

// What was described by this is described again; what has a description of its own keeps it.
bool ToolTipReader::eventFilter(QObject *watched, QEvent *event)
{
    constexpr auto described = "describedByToolTip";
    if (event->type() != QEvent::ToolTipChange || !watched->isWidgetType())
        return false;
    auto *widget = static_cast<QWidget *>(watched);
    const bool isOwn = !widget->accessibleDescription().isEmpty()
                       && widget->accessibleDescription() != widget->property(described).toString();
    const auto tip = widget->toolTip();
    if (isOwn || (!Qt::mightBeRichText(tip) && !widget->property(described).isValid()))
        return false; // plain text is read as it is
    const auto text = Qt::mightBeRichText(tip) ? QTextDocumentFragment::fromHtml(tip).toPlainText() : tip;
    widget->setProperty(described, text);
    widget->setAccessibleDescription(text);
    return false;
}

} // namespace lockscope::ui
