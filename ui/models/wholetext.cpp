// SPDX-License-Identifier: Apache-2.0
#include "ui/models/wholetext.h"

#include "core/base/text.h"
#include "ui/models/lockfacts.h"

#include <algorithm>

namespace lockscope::ui {

QString withWholeId(QString shown, const inspect::Contender &one)
{
    constexpr int longestId = 1000;
    const auto brief = shortId(one.id);
    const auto at = brief.isEmpty() ? -1 : shown.indexOf(brief);
    return at < 0 ? shown : shown.replace(at, brief.size(), label(inspect::nameInId(one.id), longestId));
}

QString withWholeId(const QString &shown, const inspect::LockSnapshot &lock)
{
    const auto holder = std::ranges::find(lock.contenders, inspect::Role::Holder, &inspect::Contender::role);
    return lock.holderCount() == 1 ? withWholeId(shown, *holder) : shown;
}

} // namespace lockscope::ui
