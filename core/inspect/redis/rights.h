// SPDX-License-Identifier: Apache-2.0
// What the user of a connection may do on its Redis, by the server's own word.
#pragma once

#include "core/async/task.h"
#include "core/redis/connection.h"

#include <QStringList>

namespace lockscope::inspect {

// A sentence each. Asked by ACL WHOAMI and ACL DRYRUN (Redis 7), which do nothing; where those are refused, that.
// `connection` outlives the task.
[[nodiscard]] Task<QStringList> redisRights(redis::Connection *connection, Deadline deadline);

} // namespace lockscope::inspect
