#include "core/base/instant.h"

#include <QDateTime>
#include <QTimeZone>

namespace lockscope {

QString isoTime(std::chrono::milliseconds sinceEpoch)
{
    // Before Qt 6.5 a time in the zone UTC is not yet one in UTC: it would be written with an offset.
    return QDateTime::fromMSecsSinceEpoch(sinceEpoch.count(), QTimeZone::utc()).toUTC().toString(Qt::ISODateWithMs);
}

} // namespace lockscope
