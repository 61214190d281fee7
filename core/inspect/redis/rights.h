// SPDX-License-Identifier: Apache-2.0
// What a Redis is, and what the user of a connection may do there, by the server's own word.
#pragma once

#include "core/async/task.h"
#include "core/redis/connection.h"

#include <QStringList>

namespace lockscope::inspect {

// "Redis 7.0.15, primary with 2 replicas", "Redis 7.0.15 on 6 nodes, 3 of them primaries": by what INFO says, of one
// server or of all nodes of a cluster. Empty where that says no version.
[[nodiscard]] QString redisServerOf(const QByteArray &info);
// The same, asked. Empty where INFO is refused. `connection` outlives the task.
[[nodiscard]] Task<QString> redisServer(redis::Connection *connection, Deadline deadline);

// Of ACL GETUSER's answer: the patterns of keys, each once, of its selectors, too. How far each goes is not told.
[[nodiscard]] QByteArrayList redisKeyPatterns(const redis::Value &user);
// A key that such a pattern matches.
[[nodiscard]] QByteArray redisKeyLike(const QByteArray &pattern);
// A sentence each. Asked by ACL WHOAMI, GETUSER and DRYRUN (Redis 7), which do nothing; where those are refused,
// that. A replica does not take writes. `connection` outlives the task.
[[nodiscard]] Task<QStringList> redisRights(redis::Connection *connection, bool takesWrites, Deadline deadline);

} // namespace lockscope::inspect
