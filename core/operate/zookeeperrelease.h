// SPDX-License-Identifier: Apache-2.0
// Taking a node away; and what is gentler.
#pragma once

#include "core/operate/releaseact.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

// Whose node it is now; an error where it is not the plan's any more.
[[nodiscard]] Task<Result<zk::Stat>> lookAtNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline);
// By the plan's way.
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, zk::Session *session, Deadline deadline);
[[nodiscard]] Task<Result<Sent>> sendGentler(ForceReleasePlan plan, zk::Session *session, Deadline deadline);

} // namespace lockscope::operate
