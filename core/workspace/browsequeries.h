// SPDX-License-Identifier: Apache-2.0
// Answers the queries about raw znodes, raw keys and sessions. The window asks them, and lockscopectl's tree and
// keys. Loop thread only; everything is sent through the gate.
#pragma once

#include "core/workspace/backend.h"
#include "core/workspace/workspace.h"

namespace lockscope {

// Trying a connection (account.h).

// Until the first look is over or the deadline passes: then with what is known by it. An error where it could not be
// connected to. The workspace observes that connection, and outlives the task.
[[nodiscard]] Task<Result<ConnectionAccount>> accountOf(Workspace &workspace, ConnectionName name, Deadline deadline);

// The same of a connection of nobody's yet, in a workspace of its own that is gone afterwards, as a checklist. The
// names and ports of its hosts are tried first, so that a failure is reported where it is. `spec` may have no name.
[[nodiscard]] Task<Result<std::vector<TrialCheck>>> tryConnection(Loop &loop, ConnectionSpec spec, Deadline deadline);

namespace questions {

// The children of a path with their Stat, sorted by name; of more than 5,000 only the names. A child that cannot be
// read carries its error; the list itself fails only when the path cannot be listed. `asOf` hears which list it is.
[[nodiscard]] Task<Result<std::vector<ZnodeRow>>> answer(Workspace &workspace, ListZnodes query, Deadline deadline,
                                                         std::function<void(const zk::Stat &folder)> asOf = {});
// Data (at most 1 MiB of it), Stat and ACL.
[[nodiscard]] Task<Result<ZnodeDetail>> answer(Workspace &workspace, ReadZnode query, Deadline deadline);
// One page of an incremental SCAN with type, TTL and size of each key; none of them is touched.
[[nodiscard]] Task<Result<KeyPage>> answer(Workspace &workspace, ScanKeys query, Deadline deadline);
// The value, capped at 1,000 items and 1 MiB.
[[nodiscard]] Task<Result<KeyDetail>> answer(Workspace &workspace, ReadKey query, Deadline deadline);
// What a client of MariaDB or MySQL is doing, as the server's tables tell.
[[nodiscard]] Task<Result<SessionDoing>> answer(Workspace &workspace, ReadSession query, Deadline deadline);

} // namespace questions

} // namespace lockscope
