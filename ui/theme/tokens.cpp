// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/theme.h"

#include <QFile>

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

namespace {

// By its name in the style sheet. One that begins another stands after it: "@hold" must not eat the start of
// "@holdSoft".
struct NamedColor {
    QLatin1StringView name;
    QColor Tokens::*color;
    QRgb light, dark;
};
constexpr NamedColor namedColors[] = {
    {"@background"_L1, &Tokens::background, 0xf6f7f9, 0x15181d},
    {"@panel"_L1, &Tokens::panel, 0xffffff, 0x1d2127},
    {"@text"_L1, &Tokens::text, 0x1c2330, 0xe6e9ee},
    {"@muted"_L1, &Tokens::muted, 0x5a6474, 0xa1abbb},
    {"@selection"_L1, &Tokens::selection, 0xe4eefc, 0x22344f},
    {"@accent"_L1, &Tokens::accent, 0x1f6feb, 0x6ea8fe},
    {"@onAccent"_L1, &Tokens::onAccent, 0xffffff, 0x0d1420},
    {"@link"_L1, &Tokens::link, 0x1857c0, 0x8ebcff},
    {"@line"_L1, &Tokens::line, 0xdfe3e8, 0x2f363f},
    {"@edge"_L1, &Tokens::edge, 0x7d8796, 0x727d8c},
    {"@holdSoft"_L1, &Tokens::holdSoft, 0xd8f1f3, 0x123a40},
    {"@holdBar"_L1, &Tokens::holdBar, 0x0b7285, 0x2aa7b4},
    {"@hold"_L1, &Tokens::hold, 0x0b6b7c, 0x4fd1dc},
    {"@waitSoft"_L1, &Tokens::waitSoft, 0xfdf1d8, 0x3d2f12},
    {"@waitBar"_L1, &Tokens::waitBar, 0xb57716, 0xb98a35},
    {"@wait"_L1, &Tokens::wait, 0x855200, 0xf2b84b},
    {"@criticalSoft"_L1, &Tokens::criticalSoft, 0xfde6e6, 0x471d1f},
    {"@critical"_L1, &Tokens::critical, 0xbd2222, 0xff8585},
    {"@onCritical"_L1, &Tokens::onCritical, 0xffffff, 0x1b0d0d},
    {"@warningSoft"_L1, &Tokens::warningSoft, 0xffeade, 0x44281a},
    {"@warning"_L1, &Tokens::warning, 0xb03604, 0xff9c66},
    {"@freeSoft"_L1, &Tokens::freeSoft, 0xeceef1, 0x2a2f37},
    {"@free"_L1, &Tokens::free, 0x5d646e, 0xa1abbb},
    {"@okSoft"_L1, &Tokens::okSoft, 0xddf3e0, 0x183820},
    {"@ok"_L1, &Tokens::ok, 0x237334, 0x69db7c},
    {"@pastSoft"_L1, &Tokens::pastSoft, 0xeae8fa, 0x2c2850},
    {"@past"_L1, &Tokens::past, 0x4b3fae, 0xb4a9ff},
    {"@onPast"_L1, &Tokens::onPast, 0xffffff, 0x14122b},
    {"@production"_L1, &Tokens::production, 0x2b3442, 0xcfd6e0},
    {"@onProduction"_L1, &Tokens::onProduction, 0xffffff, 0x15181d},
    {"@code"_L1, &Tokens::code, 0xf0f2f5, 0x262b32},
};
constexpr std::array<QRgb, 5> lightConnections{0xa02c77, 0x8a5a2b, 0x3f6f9f, 0x5d7420, 0x6a5acd};
constexpr std::array<QRgb, 5> darkConnections{0xe07ab8, 0xc79a6b, 0x7fb0de, 0xa3bd5a, 0xa79bf0};

Tokens tokensOf(bool isDark)
{
    Tokens tokens;
    tokens.dark = isDark;
    for (const auto &named : namedColors)
        tokens.*named.color = QColor(isDark ? named.dark : named.light);
    std::ranges::copy(isDark ? darkConnections : lightConnections, tokens.connections.begin());
    return tokens;
}

} // namespace

const Tokens &lightTokens()
{
    static const Tokens tokens = tokensOf(false);
    return tokens;
}

const Tokens &darkTokens()
{
    static const Tokens tokens = tokensOf(true);
    return tokens;
}

QString styleSheetOf(const Tokens &t)
{
    QFile file(u":/lockscope/theme/window.qss"_s);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no style sheet in the resources");
    auto sheet = QString::fromLatin1(file.readAll());
    sheet.replace("@shade"_L1, t.dark ? "dark"_L1 : "light"_L1);
    for (const auto &named : namedColors)
        sheet.replace(named.name, (t.*named.color).name());
    return sheet;
}

} // namespace lockscope::ui
