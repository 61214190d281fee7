// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/style.h"

#include "ui/theme/theme.h"

#include <QIcon>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

LockscopeStyle::LockscopeStyle() : QProxyStyle(u"Fusion"_s) {}

QIcon LockscopeStyle::standardIcon(StandardPixmap icon, const QStyleOption *option, const QWidget *widget) const
{
    const auto own = [](const QString &name) {
        return QIcon(
            u":/lockscope/theme/icons/says-%1-%2.svg"_s.arg(name, Theme::tokens().dark ? u"dark"_s : u"light"_s));
    };
    switch (icon) {
    case SP_MessageBoxInformation:
    case SP_MessageBoxQuestion: return own(u"information"_s);
    case SP_MessageBoxWarning: return own(u"warning"_s);
    case SP_MessageBoxCritical: return own(u"critical"_s);
    default: return QProxyStyle::standardIcon(icon, option, widget);
    }
}

} // namespace lockscope::ui

#include "moc_style.cpp"
