// SPDX-License-Identifier: Apache-2.0
// The release of a hash or a sorted set by a rule of the user's (docs/rules.md), and what wakes the clients of a key.
#pragma once

#include "core/operate/redisrelease.h"
#include "core/rules/userrules.h"

namespace lockscope::operate {

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

} // namespace lockscope::operate
