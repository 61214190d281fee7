// SPDX-License-Identifier: Apache-2.0
// How each recipe is force-released, if it is.
#pragma once

#include "core/inspect/picture.h"
#include "core/base/result.h"

namespace lockscope::operate {

enum class ReleaseWay {
    DeleteNode,       // ZooKeeper: delete the contender's node
    CompareAndDelete, // Redis: delete the key if its value is still the holder's
    QuorumDelete,     // Redlock: the same on every node of the set
    Redisson,         // Redis: Redisson's own unlock for one field, with its publish
    RedissonPermit,   // Redis: one permit of a semaphore back to the others, with its publish
    KillConnection,   // MariaDB, MySQL: KILL the holder's connection
};

// Unsupported, with the reason, for recipes whose hold cannot be taken away.
[[nodiscard]] Result<ReleaseWay> releaseWay(const inspect::LockPicture &picture);
// Recipes that choose a leader: releasing them deposes one.
[[nodiscard]] bool choosesLeader(const QByteArray &recipe);

} // namespace lockscope::operate
