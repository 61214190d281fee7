// SPDX-License-Identifier: Apache-2.0
// What lockscopectl prints: results to stdout, everything else to stderr, as one line each.
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
// To stderr as it is, for previews and questions under --json.
void remark(const QString &text);

// Whether the terminal shows more than ASCII.
[[nodiscard]] bool isUnicode();
// Columns of the terminal; 0 when stdout is none (nothing is cut then).
[[nodiscard]] int terminalWidth();

} // namespace lockscope::ctl
