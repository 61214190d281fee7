// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/friction.h"

#include <QSettings>

namespace lockscope::ui {

using namespace Qt::StringLiterals;

Friction frictionOf(const ConnectionBook &book, const ConnectionName &name)
{
    const auto *status = book.find(name);
    Friction friction;
    if (!status)
        return friction;
    friction.typesName = friction.wantsReason = status->production;
    const bool isDevelopment = !status->production && (book.sandbox().contains(name) || book.isDevelopment(name));
    if (!isDevelopment)
        return friction;
    const bool isReason = QSettings().value(u"confirm/development"_s).toString() == "reason"_L1;
    friction.wantsReason = isReason;
    friction.oneKey = !isReason;
    return friction;
}

} // namespace lockscope::ui
