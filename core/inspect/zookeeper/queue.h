// SPDX-License-Identifier: Apache-2.0
// The queue locks of a directory: sorted, judged by the recipes' own decision, joined with what the
// servers said about watches.
#pragma once

#include "core/inspect/zookeeper/layouts.h"
#include "core/inspect/zookeeper/serverview.h"

namespace lockscope::inspect {

// From a znode to a contender, and the pieces of a snapshot that all ZooKeeper locks share.
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

// What else is known of the directory that a queue is in.
struct QueueFolder {
    std::vector<const ZnodeView *> others = {}; // its children that are not of the queue
    qint64 created = 0;                         // how many children it has had; 0: not known
};

// One lock from the members of one layout (and of those that queue together with it).
[[nodiscard]] LockSnapshot queueLock(const QByteArray &name, const Description &description,
                                     std::vector<Member> members, const ZPath &directory,
                                     const RecogniseContext &context, const QueueFolder &folder = {});

// The members of a queue in order, each with its turn.
struct Placed {
    Member member;
    recipes::Turn turn;
};
[[nodiscard]] std::vector<Placed> place(const Description &description, std::vector<Member> members, int permits);

// All queue locks of a directory; `foreign` receives its children that belong to none of them.
struct QueueLocks {
    std::vector<LockSnapshot> locks;
    bool claimsDirectory = false; // the directory is one lock: whatever else lies in it is foreign
};
[[nodiscard]] QueueLocks queueLocks(const DirectoryView &directory, const RecogniseContext &context);

} // namespace lockscope::inspect
