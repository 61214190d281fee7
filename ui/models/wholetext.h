// SPDX-License-Identifier: Apache-2.0
// What a cell says where there is room for all of it: in a file, or on the clipboard.
#pragma once

#include "core/workspace/values.h"

#include <QString>

namespace lockscope::ui {

// A model answers it where that is more than what it shows.
constexpr int WholeTextRole = Qt::UserRole + 1000;

// What is shown of a contender, with its id whole where a short one stands in it.
[[nodiscard]] QString withWholeId(QString shown, const inspect::Contender &one);
// The same of a lock's holder, where there is one.
[[nodiscard]] QString withWholeId(const QString &shown, const inspect::LockSnapshot &lock);

} // namespace lockscope::ui
