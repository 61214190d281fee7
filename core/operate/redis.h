// SPDX-License-Identifier: Apache-2.0
// What goes to a Redis that writes: releases and edits of keys.
#pragma once

#include "core/operate/edit.h"
#include "core/operate/releasemethod.h"
#include "core/redis/connection.h"
#include "core/rules/userrules.h"

namespace lockscope::operate {

// Taking a key, a field of it or a permit away, and telling those who sleep until somebody does.

// `nodes`: the one Redis, or those of a Redlock set in the order of the snapshot's.
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, std::vector<redis::Connection *> nodes,
                                             Deadline deadline);

// A gentler way, by the plan's.
[[nodiscard]] Task<Result<Sent>> sendAlternative(ForceReleasePlan plan, std::vector<redis::Connection *> nodes,
                                                 Deadline deadline);

// The release of a hash or a sorted set by a rule of the user's (docs/rules.md), and what wakes the clients of a key.

// What the script sends besides, where the name is one that clients of other makes sleep by, or a rule says how.
void planWakeUps(ForceReleasePlan &plan);

// What came of a script of those that wake: 1 and one more for each that heard of it, 0 what `changed` says, -1 gone.
[[nodiscard]] Result<Sent> sentAndWoken(const ForceReleasePlan &plan, const Result<redis::Value> &answer,
                                        const QString &changed);

// "who waits there, by a push to …": how the rule says it.
[[nodiscard]] QString wokenByRule(const recipes::RuleFit &fit);
// Who hears of it: whom the rule names, and nobody else. What a name says of other clients' channels is for their
// keys, which are strings.
[[nodiscard]] QString wokenByItsRule(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
void planByRule(ForceReleasePlan &plan, const inspect::Contender &holder);
[[nodiscard]] Task<Result<Sent>> releaseByRule(ForceReleasePlan plan, redis::Connection *connection,
                                               Deadline deadline);

// Edits of keys.

// `connection`: of one Redis. What is larger than largestEdit is described, not read.
[[nodiscard]] Task<Result<EditState>> readForEdit(EditRequest request, redis::Connection *connection,
                                                  Deadline deadline);
// In one script, which compares and acts.
[[nodiscard]] Task<Result<EditSent>> sendEdit(EditPlan plan, redis::Connection *connection, Deadline deadline);

} // namespace lockscope::operate
