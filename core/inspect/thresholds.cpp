// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/thresholds.h"

#include "core/base/text.h"

#include <fnmatch.h>

namespace lockscope::inspect {

Thresholds ThresholdRules::of(const LockName &lock) const
{
    Thresholds found = usual;
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
        if (!matchesGlob(lock, rule->pattern))
            continue;
        found.longHeld = rule->longHeld.value_or(found.longHeld);
        found.longWait = rule->longWait.value_or(found.longWait);
        found.unusual = rule->unusual.value_or(found.unusual);
    }
    return found;
}

bool matchesGlob(const LockName &lock, const QString &glob)
{
    const auto pattern = glob.toUtf8();
    return ::fnmatch(pattern.constData(), escaped(lock.text()).toUtf8().constData(), 0) == 0
           || ::fnmatch(pattern.constData(), escaped(lock.name).toUtf8().constData(), 0) == 0;
}

} // namespace lockscope::inspect
