// SPDX-License-Identifier: Apache-2.0
// What may be said of what was looked at. Both programs say it by these, so that neither says "nothing is wrong"
// where not everything was seen.
#pragma once

#include "core/inspect/snapshot.h"

#include <QStringList>

namespace lockscope::inspect {

// "not everything was seen: zk: not connected", for each thing that was not looked at; empty when all was.
[[nodiscard]] QStringList gapsIn(const std::vector<Coverage> &coverage);
// Where there is no finding. `isAnySeen`: there was something to look at.
[[nodiscard]] QString nothingFound(bool isAnySeen, bool isAllSeen);

} // namespace lockscope::inspect
