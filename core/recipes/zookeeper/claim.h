// One create of ours, and how to recognise its node even if the reply never came.
#pragma once

#include "core/async/task.h"
#include "core/base/random.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

struct Claim {
    ZPath path;                // as asked for; a sequential one without its number
    QByteArray data;           // our mark, unless the name itself is unique
    bool sequential = true;
    // What a missing parent is created as: what the recipe's own client creates.
    zk::CreateMode parentKind = zk::CreateMode::Persistent;

    [[nodiscard]] zk::CreateMode mode() const
    {
        return sequential ? zk::CreateMode::EphemeralSequential : zk::CreateMode::Ephemeral;
    }
};

// Curator's: "_c_<uuid>-" before the name makes it ours among all others; the data is this host's address.
[[nodiscard]] Claim protectedClaim(const ZPath &directory, const QByteArray &name, Random &random);

// Looks for the claim's node after a reply was lost: sync, list, compare name, data and owner. Empty
// if there is none; then there never will be, because the server answers a session in order (also
// over a new connection). Keeps trying over broken connections until the deadline.
[[nodiscard]] Task<Result<std::optional<zk::Created>>> findOwn(zk::Session *session, Claim claim, Deadline deadline);

// Creates a directory and what is missing above it. Somebody else creating or reaping the same
// directories at the same time is no error.
[[nodiscard]] Task<Result<void>> makeDirectory(zk::Session *session, ZPath path, zk::CreateMode kind,
                                               Deadline deadline);

} // namespace lockscope::recipes
