// SPDX-License-Identifier: Apache-2.0
// How a lock is force-released, if it is.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

using recipes::ReleaseWay;

// Never None: Unsupported, with the reason, for a hold that cannot be taken away.
[[nodiscard]] Result<ReleaseWay> releaseWay(const inspect::LockSnapshot &snapshot);

} // namespace lockscope::operate
