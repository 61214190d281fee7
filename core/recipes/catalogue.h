// Every recipe id of the command-line contract: what it is, what it costs, how it can fail; and the
// making of the ones that can be acquired in this build.
#pragma once

#include "core/base/random.h"
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
    bool teachingOnly = false;
    // Formulae in N waiters where needed; empty when the recipe is only seen, not acquired.
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
// Null with an error if the recipe is unknown, not acquirable in this build, or of the other backend.
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, zk::Session &session, const ZPath &lock,
                                                     const AcquireOptions &options, Random random);
[[nodiscard]] Result<std::unique_ptr<Lock>> makeLock(const QByteArray &id, redis::Connection &connection,
                                                     const RedisKey &lock, const AcquireOptions &options, Random random);

} // namespace lockscope::recipes
