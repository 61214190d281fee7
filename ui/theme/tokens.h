// SPDX-License-Identifier: Apache-2.0
// The colours of the window, by meaning, for light and dark. Nowhere else is a colour spelled out.
#pragma once

#include <QColor>

namespace lockscope::ui {

struct Tokens {
    bool dark = false;
    QColor background, panel, line, text, muted, selection, accent, onAccent;
    QColor hold, holdSoft; // "Soft" is the fill behind text of the colour it belongs to
    QColor wait, waitSoft;
    QColor critical, criticalSoft, onCritical;
    QColor warning, warningSoft;
    QColor free, freeSoft;
    QColor ok, okSoft;
    QColor code; // behind text that can be pasted
};

[[nodiscard]] const Tokens &lightTokens();
[[nodiscard]] const Tokens &darkTokens();

// The one style sheet of the program, made from the tokens.
//
// Widgets ask for a look by dynamic property: QPushButton "look" = "primary", "danger",
// "dangerFilled", "flat" or "chip"; QLabel "look" = "heading", "section", "muted", "code", "tag…";
// QFrame "look" = "panel", "banner-critical", "banner-warning", "banner-info".
[[nodiscard]] QString styleSheetOf(const Tokens &tokens);

} // namespace lockscope::ui
