// SPDX-License-Identifier: Apache-2.0
// From a recipe's id to a lock of that recipe.
#pragma once

#include "core/base/random.h"
#include "core/etcd/client.h"
#include "core/mariadb/session.h"
#include "core/recipes/lock.h"
#include "core/redis/connection.h"
#include "core/rules/catalogue.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

// BadInput if the recipe is unknown, of the other backend, or does not take these options or this name;
// Unsupported if it is only seen in this build. `random` must differ from lock to lock: tokens are made
// of it. The session (connection) must outlive the lock.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                                     const AcquireOptions &options, Random random);
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection,
                                                     const RedisKey &lock, const AcquireOptions &options,
                                                     Random random);
// On a set of independent Redis nodes, all of which must outlive the lock: redlock, and nothing else.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id,
                                                     const std::vector<redis::Connection *> &nodes,
                                                     const RedisKey &lock, const AcquireOptions &options,
                                                     Random random);
// "shop.stock#id=1", "GET_LOCK#name" for sql-get-lock, "SHEDLOCK#shop.shedlock#name" for sql-shedlock. A session
// carries one lock at a time, but for the last: that is no lock to the server.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, mariadb::Session &session,
                                                     const QByteArray &lock, const AcquireOptions &options,
                                                     Random random);
// On a PostgreSQL, whose sessions have MariaDB's port: "ADVISORY#42", "public.stock#id=1".
[[nodiscard]] Result<std::unique_ptr<Lock>> makePostgreSqlLock(const QByteArray &id, mariadb::Session &session,
                                                               const QByteArray &lock, const AcquireOptions &options);

// On an etcd. The client outlives the lock.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, etcd::Client &client,
                                                     const QByteArray &lock, const AcquireOptions &options,
                                                     Random random);

} // namespace lockscope::recipes
