// SPDX-License-Identifier: Apache-2.0
#include "core/rules/wakesignals.h"

#include "core/rules/userrules.h"

namespace lockscope::recipes {

KeySignals wakeSignalsOf(const QByteArray &key)
{
    const auto fit = wakingRule(key);
    if (!fit) // by a rule that says of no wake-up its clients poll
        return rulesFitting(key).empty() ? signalsOf(key) : KeySignals();
    KeySignals wakes;
    wakes.list = fit->name(fit->rule->wakeList);
    if (const auto channel = fit->name(fit->rule->wakeChannel); !channel.isEmpty())
        wakes.channels << channel;
    return wakes;
}

} // namespace lockscope::recipes
