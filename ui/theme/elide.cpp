// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/elide.h"

namespace lockscope::ui {

using namespace Qt::StringLiterals;

QString elidedClient(const QFontMetricsF &metrics, const QString &text, qreal width, Qt::TextElideMode otherwise)
{
    const auto at = text.lastIndexOf(u'@');
    if (at <= 0 || text.contains(u' ') || metrics.horizontalAdvance(text) <= width)
        return metrics.elidedText(text, otherwise, width);
    const auto dot = text.indexOf(u'.', at);
    const auto host = dot < 0 ? text.sliced(at) : text.sliced(at, dot - at) + u'…';
    const auto client = text.first(at);
    const qreal left = width - metrics.horizontalAdvance(host);
    if (left >= metrics.horizontalAdvance(client))
        return metrics.elidedText(text, Qt::ElideRight, width);
    if (left < metrics.horizontalAdvance(u"mm…"_s)) // not even the host has room
        return metrics.elidedText(text, otherwise, width);
    return metrics.elidedText(client, Qt::ElideRight, left) + host;
}

} // namespace lockscope::ui
