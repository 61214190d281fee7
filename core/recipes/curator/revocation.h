// SPDX-License-Identifier: Apache-2.0
// Asking a holder to let go, and hearing of it: Curator's Revoker and RevocationListener.
//
// Nothing is forced. Whoever wants the lock writes a mark into the holder's node; a holder that cares
// watches its own node's data and releases when it likes. Grant::node is the node, of a
// curator-mutex or a curator-rwlock.
#pragma once

#include "core/async/task.h"
#include "core/rules/revocationmark.h"
#include "core/zookeeper/session.h"

namespace lockscope::recipes {

// NoNode when there is nobody to ask any more. Sent again over broken connections until the deadline:
// twice does no harm.
[[nodiscard]] Task<Result<void>> requestRevocation(zk::Session *session, ZPath holder, Deadline deadline);

// Waits until somebody asks: true; or until the node is gone: false. One request, and one more
// whenever the data changes otherwise.
[[nodiscard]] Task<Result<bool>> untilRevocationRequested(zk::Session *session, ZPath ourNode, Deadline deadline);

} // namespace lockscope::recipes
