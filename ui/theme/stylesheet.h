// SPDX-License-Identifier: Apache-2.0
// The one style sheet of the program, made from the tokens.
//
// Widgets ask for a look by dynamic property: QPushButton "look" = "primary", "danger",
// "dangerFilled", "flat" or "chip"; QLabel "look" = "heading", "section", "muted", "code", "tag…";
// QFrame "look" = "panel", "banner-critical", "banner-warning", "banner-info".
#pragma once

#include "ui/theme/tokens.h"

#include <QString>

namespace lockscope::ui {

[[nodiscard]] QString styleSheetOf(const Tokens &tokens);

} // namespace lockscope::ui
