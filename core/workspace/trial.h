// SPDX-License-Identifier: Apache-2.0
// Trying a connection (account.h).
#pragma once

#include "core/workspace/account.h"
#include "core/workspace/workspace.h"

namespace lockscope {

// Until the first look is over or the deadline passes: then with what is known by it. An error where it could not be
// connected to. The workspace observes that connection, and outlives the task.
[[nodiscard]] Task<Result<ConnectionAccount>> accountOf(Workspace &workspace, ConnectionName name, Deadline deadline);

// The same of a connection of nobody's yet, in a workspace of its own that is gone afterwards, as a checklist. The
// names and ports of its hosts are tried first, so that a failure is reported where it is. `spec` may have no name.
[[nodiscard]] Task<Result<std::vector<TrialCheck>>> tryConnection(Loop &loop, ConnectionSpec spec, Deadline deadline);

} // namespace lockscope
