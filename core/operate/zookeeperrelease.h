// SPDX-License-Identifier: Apache-2.0
// Taking a node away.
#pragma once

#include "core/operate/releaseact.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, zk::Session *session, Deadline deadline);

} // namespace lockscope::operate
