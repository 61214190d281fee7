// SPDX-License-Identifier: Apache-2.0
// Taking an SQL lock away: KILL CONNECTION, only while its holder still holds.
//
// KILL takes a number and nothing else, so whether that number still stands for the same hold is looked at right
// before, and nothing that may be old counts:
//   named lock  IS_USED_LOCK, and since when this server runs;
//   row lock    the transaction by its number and start, in a copy that was made while we asked (freshness.h); where
//               somebody reads too often for that, in SHOW ENGINE INNODB STATUS, which is printed from what is; in
//               data_locks where the server has these (MySQL), whose STATUS leaves out transactions that only read.
// Where the server has blocks without a name (MariaDB), it looks and kills in one statement: between the two lie
// microseconds (more where the server's thread has to wait for a processor), not the way to the server and back, and
// both are on one server whatever stands between. INNODB STATUS cannot be part of a statement; there the block asks
// instead whether the connection has begun a statement since before it was printed: if not, it cannot have let go.
// Without blocks (MySQL) one round trip lies between. A COMMIT that is being done when the KILL comes is done, and
// then the connection ends.
//
// Afterwards it is looked at the same way whether the hold is gone: what is rolled back keeps its locks so long.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"
#include "core/operate/forcereleaseplan.h"
#include "core/operate/releaseact.h"

namespace lockscope::operate {

[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline);

// What else a connection holds that goes with it when it is killed.

// The plan with what the server says of that: other named locks, rows and tables by name in otherLocksLost, its
// transaction in the warnings. What the server does not tell stays "not known". For plans that kill; any other comes
// back as it is, but without the ways that this server does not have. Reads only.
[[nodiscard]] Task<ForceReleasePlan> withKillLosses(ForceReleasePlan plan, mariadb::Session *session,
                                                    Deadline deadline);

} // namespace lockscope::operate
