// SPDX-License-Identifier: Apache-2.0
// The colours of the window, by meaning, for light and dark. Nowhere else is a colour spelled out.
#pragma once

#include <QColor>

#include <array>

namespace lockscope::ui {

struct Tokens {
    bool dark = false;
    QColor background, panel, text, muted, selection, accent, onAccent, link;
    QColor line, edge;              // between parts; around fields and buttons, which is seen at 3:1
    QColor hold, holdSoft, holdBar; // "Soft" is the fill behind text of the color it belongs to, "Bar" a filled shape
    QColor wait, waitSoft, waitBar;
    QColor critical, criticalSoft, onCritical;
    QColor warning, warningSoft;
    QColor free, freeSoft;
    QColor ok, okSoft;
    QColor past, pastSoft, onPast;
    QColor production, onProduction;   // a filled tag and stripes: production is a shape, never a status color
    QColor code;                       // behind text that can be pasted
    std::array<QColor, 5> connections; // the edges of groups, none of them a status color
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
