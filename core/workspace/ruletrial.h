// SPDX-License-Identifier: Apache-2.0
// The rules in force, and forms of tokens, tried on every key of a Redis: what each makes of the keys that its
// pattern fits, and why not.
#pragma once

#include "core/async/task.h"
#include "core/inspect/redis/userrulelocks.h"
#include "core/redis/connection.h"

namespace lockscope {

struct RuleTrials {
    std::vector<inspect::RuleTrial> trials; // by key
    qint64 keys = 0;                        // looked at
    QStringList refused;                    // what the server did not let us see
    bool isCut = false;                     // more fit than are kept
};
// `connection` outlives the task.
[[nodiscard]] Task<Result<RuleTrials>> tryRulesOn(redis::Connection *connection, ConnectionName name);

} // namespace lockscope
