// SPDX-License-Identifier: Apache-2.0
#include "core/base/duration.h"

#include <QDateTime>
#include <QRegularExpression>
#include <QTimeZone>

#include <algorithm>
#include <cmath>

namespace lockscope {

std::chrono::milliseconds millisecondsOf(double milliseconds)
{
    constexpr double most = 10'000 * 365.25 * 86'400'000;
    if (std::isnan(milliseconds))
        return std::chrono::milliseconds(0);
    return std::chrono::milliseconds(std::llround(std::clamp(milliseconds, -most, most)));
}

Result<std::chrono::milliseconds> parseDuration(const QString &text)
{
    static const QRegularExpression form(u"^([0-9]{1,10})(ms|s|m|h|d)$"_s);
    const auto match = form.match(text);
    if (!match.hasMatch())
        return Error{ErrorCode::BadInput, u"\"%1\" is not a duration; write 500ms, 30s or 2m"_s.arg(text)};
    const auto number = match.captured(1).toLongLong();
    const auto unit = match.captured(2);
    const long long factor = unit == "ms"_L1  ? 1
                             : unit == "s"_L1 ? 1000
                             : unit == "m"_L1 ? 60'000
                             : unit == "h"_L1 ? 3'600'000
                                              : 86'400'000;
    return std::chrono::milliseconds(number * factor);
}

QString formatDuration(std::chrono::milliseconds span)
{
    const long long ms = std::max<long long>(0, span.count());
    const long long seconds = ms / 1000;
    const auto twoDigits = [](long long n) { return u"%1"_s.arg(n, 2, 10, QLatin1Char('0')); };
    if (ms < 1000)
        return u"%1 ms"_s.arg(ms);
    if (seconds < 10)
        return u"%1.%2 s"_s.arg(seconds).arg(ms % 1000 / 100);
    if (seconds < 60)
        return u"%1 s"_s.arg(seconds);
    if (seconds < 3600)
        return u"%1 m %2 s"_s.arg(seconds / 60).arg(twoDigits(seconds % 60));
    if (seconds < 86400)
        return u"%1 h %2 m"_s.arg(seconds / 3600).arg(twoDigits(seconds % 3600 / 60));
    if (seconds < 3 * 86400)
        return u"%1 d %2 h"_s.arg(seconds / 86400).arg(seconds % 86400 / 3600);
    return u"%1 d"_s.arg(seconds / 86400);
}

namespace {

// Before Qt 6.5 a time in the zone UTC is not yet one in UTC: it would be written with an offset. From 6.8 on a
// warning goes with the word for UTC that does without.
QDateTime inUtc(std::chrono::milliseconds sinceEpoch)
{
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count(), QTimeZone::utc()).toUTC();
}

} // namespace

QString isoTime(std::chrono::milliseconds sinceEpoch)
{
    return inUtc(sinceEpoch).toString(Qt::ISODateWithMs);
}

QString isoSeconds(std::chrono::seconds sinceEpoch)
{
    return inUtc(sinceEpoch).toString(Qt::ISODate);
}

} // namespace lockscope
