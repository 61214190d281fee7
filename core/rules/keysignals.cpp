// SPDX-License-Identifier: Apache-2.0
#include "core/rules/keysignals.h"

#include "core/base/text.h"
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

using Milliseconds = std::chrono::milliseconds;
using Moment = std::chrono::sys_time<Milliseconds>;

// A lock that ended earlier than that may as well be one that says since when it is held.
constexpr auto longestGoneBy = std::chrono::days(1);
constexpr auto longestAhead = std::chrono::days(366);
constexpr qsizetype mostDigitsOfMoment = 15; // a thousand times as much still fits

bool isNear(Moment at, Moment now)
{
    return at > now - longestGoneBy && at < now + longestAhead;
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

std::optional<WrittenMoment> readMoment(const QByteArray &value, Moment now)
{
    using Form = WrittenMoment::Form;
    const auto dot = value.indexOf('.');
    const QByteArray whole = dot < 0 ? value : value.left(dot);
    const QByteArray fraction = dot < 0 ? QByteArray() : value.mid(dot + 1);
    const QByteArray digits = whole.startsWith('-') ? whole.mid(1) : whole;
    if (!isDigits(digits) || digits.size() > mostDigitsOfMoment || (dot >= 0 && !isDigits(fraction)))
        return std::nullopt;
    const qint64 number = whole.toLongLong();
    const Moment inMilliseconds{Milliseconds(number)};
    if (isNear(inMilliseconds, now))
        return WrittenMoment{inMilliseconds, dot < 0 ? Form::Milliseconds : Form::Fraction};
    const Moment inSeconds{Milliseconds(number * 1000 + fraction.leftJustified(3, '0').left(3).toLongLong())};
    if (isNear(inSeconds, now))
        return WrittenMoment{inSeconds, dot < 0 ? Form::Seconds : Form::Fraction};
    return std::nullopt;
}

} // namespace lockscope::recipes
