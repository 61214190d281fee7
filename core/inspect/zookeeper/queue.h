// SPDX-License-Identifier: Apache-2.0
// The queue locks of a directory: sorted, judged by the recipes' own decision, joined with what the
// servers said about watches.
#pragma once

#include "core/inspect/zookeeper/contender.h"

namespace lockscope::inspect {

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
