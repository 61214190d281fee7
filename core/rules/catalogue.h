// SPDX-License-Identifier: Apache-2.0
// Every recipe id (docs/command-line.md, "Recipe ids"): what it is, what it costs, how it can fail. Any thread.
#pragma once

#include "core/base/result.h"

#include <chrono>
#include <optional>
#include <vector>

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
// Why this recipe cannot be made on such a server with these options: unknown, of another backend,
// only seen, without a read mode or a limit.
[[nodiscard]] std::optional<Error> objectionTo(const QByteArray &id, RecipeBackend backend,
                                               const AcquireOptions &options);

} // namespace lockscope::recipes
