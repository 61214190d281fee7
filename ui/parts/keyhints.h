// SPDX-License-Identifier: Apache-2.0
// Keys as a page names them, and what they do there: for the help over the window, and the line of a presentation.
#pragma once

#include <QList>
#include <QString>

#include <utility>

namespace lockscope::ui {

using KeyHints = QList<std::pair<QString, QString>>; // "← →", "one event back, one on"

} // namespace lockscope::ui
