// SPDX-License-Identifier: Apache-2.0
// One create of ours, and how to recognise its node even if the reply never came.
#pragma once

#include "core/async/task.h"
#include "core/base/random.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

struct NodeClaim {
    ZPath path;      // as asked for; a sequential one without its number
    QByteArray data; // our mark, unless the name itself is unique
    bool sequential = true;
    bool isUnique = false; // the name holds a random token: it is nobody else's, now or ever
    // What a missing parent is created as: what the recipe's own client creates.
    zk::CreateMode parentKind = zk::CreateMode::Persistent;

    [[nodiscard]] zk::CreateMode mode() const
    {
        return sequential ? zk::CreateMode::EphemeralSequential : zk::CreateMode::Ephemeral;
    }
    // Whether a node of somebody else may come to have this name: then a removal looks first whose it is. (A number
    // comes once for as long as its directory stands.)
    [[nodiscard]] bool nameComesAgain() const { return !sequential && !isUnique; }
};

// A node of ours, by what never comes again: who waits keeps this of it for as long, and not the rest of its stat.
struct OwnNode {
    OwnNode(zk::Created created)
        : path(std::move(created.path)), czxid(created.stat.czxid), owner(created.stat.ephemeralOwner)
    {
    }
    ZPath path; // with the sequence number the server gave
    qint64 czxid;
    zk::SessionId owner;
};

// Curator's: "_c_<uuid>-" before the name makes it ours among all others; the data is this host's address.
[[nodiscard]] NodeClaim protectedClaim(const ZPath &directory, const QByteArray &name, Random &random);

// Looks for the claim's node after a reply was lost: sync, list, compare name, data and owner. Empty
// if there is none; then there never will be, because the server answers a session in order (also
// over a new connection). Keeps trying over broken connections until the deadline.
[[nodiscard]] Task<Result<std::optional<zk::Created>>> findOwn(zk::Session *session, NodeClaim claim,
                                                               Deadline deadline);

// Whether this very node still stands, by czxid and owner, and not another that got its name. One try. What was done
// to it before it was asked is seen (sync): a follower may still show a node that was replaced already.
[[nodiscard]] Task<Result<bool>> stillStands(zk::Session *session, OwnNode node, Deadline by);

// Creates a directory and what is missing above it. Somebody else creating or reaping the same
// directories at the same time is no error.
[[nodiscard]] Task<Result<void>> makeDirectory(zk::Session *session, ZPath path, zk::CreateMode kind,
                                               Deadline deadline);

} // namespace lockscope::recipes
