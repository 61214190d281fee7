// SPDX-License-Identifier: Apache-2.0
// Names of clients in less room than they need.
#pragma once

#include <QFontMetricsF>
#include <QString>

namespace lockscope::ui {

// "settlem…@batch-01…": a name of one word with a host keeps the beginning of both. Any other text is elided as said.
[[nodiscard]] QString elidedClient(const QFontMetricsF &metrics, const QString &text, qreal width,
                                   Qt::TextElideMode otherwise);

} // namespace lockscope::ui
