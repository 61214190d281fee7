// SPDX-License-Identifier: Apache-2.0
// Text of servers in places that would read it as HTML.
#pragma once

#include <QString>

namespace lockscope::ui {

// Qt's tool tips turn text that looks like HTML into HTML; this one is always shown as it is.
[[nodiscard]] inline QString plainToolTip(const QString &text)
{
    if (text.isEmpty())
        return text;
    return QStringLiteral("<p style='white-space:pre-wrap'>") + text.toHtmlEscaped() + QStringLiteral("</p>");
}

} // namespace lockscope::ui
