// SPDX-License-Identifier: Apache-2.0
// "1 row", "0 rows", "7 rows".
#pragma once

#include <QString>

namespace lockscope {

[[nodiscard]] inline QString amountOf(qint64 count, QLatin1StringView one, QLatin1StringView many)
{
    return QString::number(count) + QLatin1Char(' ') + (count == 1 ? one : many);
}

} // namespace lockscope
