// SPDX-License-Identifier: Apache-2.0
// What lockscopectl prints: results to stdout, everything else to stderr, as one line each. All of it passes
// core/base/text.h here: whatever text comes from a file or a server, no control character reaches the terminal.
#pragma once

#include "core/base/result.h"

#include <QJsonObject>

namespace lockscope::ctl {

// To stdout, flushed. Returns false when nobody reads any more (a closed pipe).
bool print(const QString &text);
// One line with "schema" added.
bool printJsonLine(QJsonObject object);
// A whole answer, indented.
bool printJson(QJsonObject object);
// One line to stderr: what was tried, on what, what to do next. Without the credentials of any URI in it.
void complain(const QString &message);
// To stderr, for previews and questions under --json.
void remark(const QString &text);
// To stderr, in place of what the terminal's last line shows.
void showOnLine(const QString &text);

// Whether the terminal shows more than ASCII.
[[nodiscard]] bool isUnicode();
// Columns of the terminal; 0 when stdout is none (nothing is cut then).
[[nodiscard]] int terminalWidth();

} // namespace lockscope::ctl
