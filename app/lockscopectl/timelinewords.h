// SPDX-License-Identifier: Apache-2.0
// What happened to a lock, printed: show --timeline.
#pragma once

#include "core/history/timeline.h"

#include <QJsonObject>

namespace lockscope::ctl {

[[nodiscard]] QJsonObject timelineJson(const history::Timeline &timeline);
// The events in a table, then how long it was held and waited for.
[[nodiscard]] QStringList timelineLines(const history::Timeline &timeline);

} // namespace lockscope::ctl
