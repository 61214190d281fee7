// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/tooltipreader.h"

#include <QEvent>
#include <QTextDocumentFragment>
#include <QVariant>
#include <QWidget>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// Most are made by plainToolTip(), and need no parser.
QString withoutMarkup(const QString &tip)
{
    static const QString begin = u"<p style='white-space:pre-wrap'>"_s;
    static const QString end = u"</p>"_s;
    if (!tip.startsWith(begin) || !tip.endsWith(end))
        return QTextDocumentFragment::fromHtml(tip).toPlainText();
    auto text = tip.sliced(begin.size(), tip.size() - begin.size() - end.size());
    return text.replace(u"&lt;"_s, u"<"_s)
        .replace(u"&gt;"_s, u">"_s)
        .replace(u"&quot;"_s, u"\""_s)
        .replace(u"&amp;"_s, u"&"_s);
}

} // namespace

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
    const auto text = Qt::mightBeRichText(tip) ? withoutMarkup(tip) : tip;
    widget->setProperty(described, text);
    widget->setAccessibleDescription(text);
    return false;
}

} // namespace lockscope::ui
