// SPDX-License-Identifier: Apache-2.0
// From a znode to a contender, and the pieces of a snapshot that all ZooKeeper locks share.
#pragma once

#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/serverview.h"

namespace lockscope::inspect {

[[nodiscard]] ServerTime momentOf(std::chrono::milliseconds sinceEpoch);
// Nothing, where that may not be known.
[[nodiscard]] std::optional<ServerTime> madeAt(const ZnodeView &node);

// Name, session, endpoint, identity and guard of a node; neither role nor ages.
[[nodiscard]] Contender contenderOf(const ZnodeView &node, const ZPath &directory, const ServerView &servers);

// A queue node's hold: since we saw it become the head; else its age is the most it can be. Exact
// without having seen it for the first node that the directory ever had.
void markHolder(Contender &contender, const ZnodeView &node, const RecogniseContext &context);
void markWaiter(Contender &contender, const ZnodeView &node);

// Sets positions in the given order, and the state from who holds and who waits.
void numberAndJudge(LockSnapshot &lock);

// A snapshot with all that comes from the context; state free, nobody in it.
[[nodiscard]] LockSnapshot emptySnapshot(const QByteArray &name, const RecogniseContext &context);

// Children that no rule of the lock's recipe knows.
void addForeignNodes(LockSnapshot &lock, const std::vector<const ZnodeView *> &nodes, bool breaksTheRecipe);
void addPersistentNode(LockSnapshot &lock, const QByteArray &id);

} // namespace lockscope::inspect
