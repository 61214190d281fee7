// SPDX-License-Identifier: Apache-2.0
#include "core/rules/keysignals.h"

#include "core/rules/userrules.h"

namespace lockscope::recipes {

namespace {
// Registries are named "app", "app:locks"; what has more colons has them in the path.
constexpr qsizetype channelsAtMost = 4;

// Names that clients without channels give.
bool isNamedByPoller(const QByteArray &key)
{
    return key.startsWith("redlock:") || key.contains("laravel") || key.startsWith("PHPREDIS_SESSION:")
           || key.startsWith("SINGLETONLOCK_");
}
} // namespace

KeySignals signalsOf(const QByteArray &key)
{
    static const QByteArray python = "lock:";
    KeySignals wakes;
    if (key.startsWith(python) && key.size() > python.size())
        wakes.list = "lock-signal:" + key.mid(python.size());
    const bool isSprings = !isNamedByPoller(key);
    for (auto at = key.indexOf(':'); isSprings && at > 0 && wakes.channels.size() < channelsAtMost;
         at = key.indexOf(':', at + 1)) {
        wakes.channels << key.left(at) + "-channel";
        wakes.topics << wakes.channels.last() + ':' + key;
    }
    return wakes;
}

QByteArrayList signalArguments(const KeySignals &wakes, const QByteArray &expiry)
{
    return QByteArrayList{expiry, wakes.list} + wakes.published();
}

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
