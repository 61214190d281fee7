// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/theme.h"

#include "core/base/text.h"

#include <QLocale>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

constexpr qsizetype longestBytes = 160;
constexpr qsizetype keptBytes = 60; // at each end of a longer one

bool needsQuotes(const QByteArray &name)
{
    const auto isInvisible = [](char c) { return c == ' ' || c == '"'; };
    return name.isEmpty() || isInvisible(name.front()) || isInvisible(name.back());
}

} // namespace

QString nameText(const QByteArray &name)
{
    if (name.size() > longestBytes)
        return u"%1 … %2 (%3 bytes)"_s.arg(escaped(name.left(keptBytes)), escaped(name.right(keptBytes)),
                                           countText(name.size()));
    return needsQuotes(name) ? u'"' + escaped(name) + u'"' : escaped(name);
}

QString quotedForShell(QString text)
{
    return u'\'' + text.replace(u'\'', u"'\\''"_s) + u'\'';
}

QString countText(qint64 count)
{
    return QLocale(QLocale::English, QLocale::UnitedStates).toString(count);
}

QString sizeText(qint64 bytes)
{
    constexpr double kibi = 1024;
    if (bytes < 1024)
        return u"%1 B"_s.arg(bytes);
    const bool isMebi = bytes >= 1024 * 1024;
    const double amount = static_cast<double>(bytes) / (isMebi ? kibi * kibi : kibi);
    const bool isWhole = bytes % (isMebi ? 1024 * 1024 : 1024) == 0;
    return u"%1 %2"_s.arg(amount, 0, 'f', isWhole ? 0 : 1).arg(isMebi ? u"MiB"_s : u"KiB"_s);
}

QString plainToolTip(const QString &text)
{
    return text.isEmpty() ? text : u"<p style='white-space:pre-wrap'>"_s + text.toHtmlEscaped() + u"</p>"_s;
}

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
