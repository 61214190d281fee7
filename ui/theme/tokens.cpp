// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/tokens.h"
#include <QFile>
#include <utility>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

const Tokens &lightTokens()
{
    static const Tokens tokens{
        .dark = false,
        .background = 0xf6f7f9,
        .panel = 0xffffff,
        .text = 0x1c2330,
        .muted = 0x5a6474,
        .selection = 0xe4eefc,
        .accent = 0x1f6feb,
        .onAccent = 0xffffff,
        .link = 0x1857c0,
        .line = 0xdfe3e8,
        .edge = 0x7d8796,
        .hold = 0x0b6b7c,
        .holdSoft = 0xd8f1f3,
        .holdBar = 0x0b7285,
        .wait = 0x855200,
        .waitSoft = 0xfdf1d8,
        .waitBar = 0xb57716,
        .critical = 0xbd2222,
        .criticalSoft = 0xfde6e6,
        .onCritical = 0xffffff,
        .warning = 0xb03604,
        .warningSoft = 0xffeade,
        .free = 0x5d646e,
        .freeSoft = 0xeceef1,
        .ok = 0x237334,
        .okSoft = 0xddf3e0,
        .past = 0x4b3fae,
        .pastSoft = 0xeae8fa,
        .onPast = 0xffffff,
        .production = 0x2b3442,
        .onProduction = 0xffffff,
        .code = 0xf0f2f5,
        .connections = {QColor(0xa02c77), QColor(0x8a5a2b), QColor(0x3f6f9f), QColor(0x5d7420), QColor(0x6a5acd)},
    };
    return tokens;
}

const Tokens &darkTokens()
{
    static const Tokens tokens{
        .dark = true,
        .background = 0x15181d,
        .panel = 0x1d2127,
        .text = 0xe6e9ee,
        .muted = 0xa1abbb,
        .selection = 0x22344f,
        .accent = 0x6ea8fe,
        .onAccent = 0x0d1420,
        .link = 0x8ebcff,
        .line = 0x2f363f,
        .edge = 0x727d8c,
        .hold = 0x4fd1dc,
        .holdSoft = 0x123a40,
        .holdBar = 0x2aa7b4,
        .wait = 0xf2b84b,
        .waitSoft = 0x3d2f12,
        .waitBar = 0xb98a35,
        .critical = 0xff8585,
        .criticalSoft = 0x471d1f,
        .onCritical = 0x1b0d0d,
        .warning = 0xff9c66,
        .warningSoft = 0x44281a,
        .free = 0xa1abbb,
        .freeSoft = 0x2a2f37,
        .ok = 0x69db7c,
        .okSoft = 0x183820,
        .past = 0xb4a9ff,
        .pastSoft = 0x2c2850,
        .onPast = 0x14122b,
        .production = 0xcfd6e0,
        .onProduction = 0x15181d,
        .code = 0x262b32,
        .connections = {QColor(0xe07ab8), QColor(0xc79a6b), QColor(0x7fb0de), QColor(0xa3bd5a), QColor(0xa79bf0)},
    };
    return tokens;
}

QString styleSheetOf(const Tokens &t)
{
    QFile file(u":/lockscope/theme/window.qss"_s);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no style sheet in the resources");
    auto sheet = QString::fromLatin1(file.readAll());
    // Longer names first: "@line" must not eat the start of another name.
    const std::array<std::pair<QLatin1String, QColor>, 29> names{{
        {"@background"_L1, t.background},
        {"@panel"_L1, t.panel},
        {"@line"_L1, t.line},
        {"@link"_L1, t.link},
        {"@edge"_L1, t.edge},
        {"@text"_L1, t.text},
        {"@muted"_L1, t.muted},
        {"@selection"_L1, t.selection},
        {"@accent"_L1, t.accent},
        {"@onAccent"_L1, t.onAccent},
        {"@holdSoft"_L1, t.holdSoft},
        {"@hold"_L1, t.hold},
        {"@waitSoft"_L1, t.waitSoft},
        {"@wait"_L1, t.wait},
        {"@criticalSoft"_L1, t.criticalSoft},
        {"@critical"_L1, t.critical},
        {"@onCritical"_L1, t.onCritical},
        {"@warningSoft"_L1, t.warningSoft},
        {"@warning"_L1, t.warning},
        {"@freeSoft"_L1, t.freeSoft},
        {"@free"_L1, t.free},
        {"@okSoft"_L1, t.okSoft},
        {"@ok"_L1, t.ok},
        {"@pastSoft"_L1, t.pastSoft},
        {"@past"_L1, t.past},
        {"@onPast"_L1, t.onPast},
        {"@production"_L1, t.production},
        {"@onProduction"_L1, t.onProduction},
        {"@code"_L1, t.code},
    }};
    sheet.replace("@shade"_L1, t.dark ? "dark"_L1 : "light"_L1);
    for (const auto &[name, colour] : names)
        sheet.replace(name, colour.name());
    return sheet;
}

} // namespace lockscope::ui
