// Every recipe id (docs/command-line.md, "Recipe ids"): what it is, what it costs, how it can fail; and the
// making of the ones that can be acquired in this build.
#pragma once

#include "core/base/random.h"
#include "core/mariadb/session.h"
#include "core/recipes/lock.h"
#include "core/redis/connection.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

enum class RecipeBackend { ZooKeeper, Redis, MariaDb };

struct RecipeInfo {
    QByteArray id;
    RecipeBackend backend = RecipeBackend::ZooKeeper;
    QString summary; // one line
    bool acquirable = false;
    bool fair = false;
    bool reentrant = false;
    bool teachingOnly = false; // refused on a production connection
    bool readWrite = false;    // has a read mode
    bool counted = false;      // takes a limit: so many may hold it at once
    // Requests of one contender and watch events or messages of one release, as counted in the tests.
    // Formulae in N contenders (the holder among them) where needed; empty when the recipe is only
    // seen, not acquired. Queued: the last of N, all others releasing one after the other.
    QString requestsAcquireFree;
    QString requestsAcquireQueued;
    QString requestsRelease;
    QString wakeupsPerRelease;
    std::vector<QString> flaws; // one line each
};

[[nodiscard]] const std::vector<RecipeInfo> &catalogue();
[[nodiscard]] const RecipeInfo *findRecipe(const QByteArray &id);

struct AcquireOptions {
    bool readMode = false;
    int limit = 1;
    std::chrono::milliseconds ttl{30'000};
};
// BadInput if the recipe is unknown, of the other backend, or does not take these options or this name;
// Unsupported if it is only seen in this build. `random` must differ from lock to lock: tokens are made
// of it. The session (connection) must outlive the lock.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                                     const AcquireOptions &options, Random random);
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection,
                                                     const RedisKey &lock, const AcquireOptions &options,
                                                     Random random);
// On a set of independent Redis nodes, all of which must outlive the lock: redlock, and nothing else.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, const std::vector<redis::Connection *> &nodes,
                                                     const RedisKey &lock, const AcquireOptions &options,
                                                     Random random);
// "shop.stock#id=1", or "GET_LOCK#name" for sql-get-lock. A session carries one lock at a time.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, mariadb::Session &session,
                                                     const QByteArray &lock, const AcquireOptions &options);

} // namespace lockscope::recipes
