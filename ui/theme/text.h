// SPDX-License-Identifier: Apache-2.0
// Names from servers, and numbers, as the window shows them: safe, short, and never two names that look alike by
// accident.
#pragma once

#include <QByteArray>
#include <QFontMetricsF>
#include <QString>

namespace lockscope::ui {

// Escaped; in quotes where spaces at the ends (or nothing at all) would be invisible; a long name
// keeps its beginning and its end and says how long it is.
[[nodiscard]] QString nameText(const QByteArray &name);
// For a POSIX shell: nothing inside single quotes means anything.
[[nodiscard]] QString quotedForShell(QString text);
// 1234567 as "1,234,567".
[[nodiscard]] QString countText(qint64 count);
// "512 B", "64 KiB", "1.2 MiB".
[[nodiscard]] QString sizeText(qint64 bytes);
// Qt's tool tips turn text that looks like HTML into HTML; this one is always shown as it is.
[[nodiscard]] QString plainToolTip(const QString &text);

// Names of clients in less room than they need.

// "settlem…@batch-01…": a name of one word with a host keeps the beginning of both. Any other text is elided as said.
[[nodiscard]] QString elidedClient(const QFontMetricsF &metrics, const QString &text, qreal width,
                                   Qt::TextElideMode otherwise);

} // namespace lockscope::ui
