// SPDX-License-Identifier: Apache-2.0
#include "core/rules/writtenvalues.h"

#include "core/base/identifiers.h"

namespace lockscope::recipes {

namespace {

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
