// SPDX-License-Identifier: Apache-2.0
// What goes to a ZooKeeper that writes: releases and edits of znodes.
#pragma once

#include "core/operate/edit.h"
#include "core/operate/releasemethod.h"
#include "core/zookeeper/session.h"

namespace lockscope::operate {

// Taking a node away; and what is gentler.

// Whose node it is now; an error where it is not the plan's any more.
[[nodiscard]] Task<Result<zk::Stat>> lookAtNode(ForceReleasePlan plan, zk::Session *session, Deadline deadline);
// By the plan's way.
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, zk::Session *session, Deadline deadline);
[[nodiscard]] Task<Result<Sent>> sendAlternative(ForceReleasePlan plan, zk::Session *session, Deadline deadline);

// Edits of znodes.

// With all below it where it is to be deleted: TooLarge beyond mostDeleted nodes.
[[nodiscard]] Task<Result<EditState>> readForEdit(EditRequest request, zk::Session *session, Deadline deadline);
[[nodiscard]] Task<Result<EditSent>> sendEdit(EditPlan plan, zk::Session *session, Deadline deadline);

} // namespace lockscope::operate
