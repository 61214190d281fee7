// SPDX-License-Identifier: Apache-2.0
// A row of a CSV file by RFC 4180, for people who open it in a spreadsheet: what begins like a formula there, and
// is no plain number, gets an apostrophe in front, so that a lock's name is never run.
#pragma once

#include <QByteArray>
#include <QStringList>

namespace lockscope::ui {

// UTF-8, with its line end.
[[nodiscard]] QByteArray csvRow(const QStringList &fields);

} // namespace lockscope::ui
