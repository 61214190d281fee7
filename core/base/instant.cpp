// SPDX-License-Identifier: Apache-2.0
#include "core/base/instant.h"

#include <QDateTime>
#include <QTimeZone>

namespace lockscope {

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
