// SPDX-License-Identifier: Apache-2.0
// The queue of a lock on a terminal: a block for each contender, and rails from each waiter to what it watches.
// A solid rail is reported by the server, a dashed one is inferred. The ends of a deadlock are joined in red.
#pragma once

#include "app/lockscopectl/report.h"
#include "core/inspect/waits/waitgraph.h"

namespace lockscope::ctl {

// `graph` has what the clients hold and wait for elsewhere; null where it was not made. `width`: of the terminal.
[[nodiscard]] std::vector<Line> queueLines(const inspect::LockSnapshot &lock, const inspect::WaitGraph *graph,
                                           inspect::ServerTime now, int width);

} // namespace lockscope::ctl
