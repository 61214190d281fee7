// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/tokens.h"

#include <QFile>

#include <array>
#include <utility>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

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
