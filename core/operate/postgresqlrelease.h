// SPDX-License-Identifier: Apache-2.0
// Taking a PostgreSQL lock away: pg_terminate_backend, only while its holder still holds; and what is gentler,
// pg_cancel_backend of the statement that runs or waits.
//
// Both take a process number and nothing else, so one statement compares and acts: the backend by its number and its
// start (backend_start), of a row or a table its transaction's start, too (xact_start), and in pg_locks, read in that
// moment, that it still holds (or waits). Between the comparison and the signal lie microseconds. Afterwards it is
// looked at whether the backend is gone.
//
// A prepared transaction has no backend: nothing is sent, and it is said what ends it.
#pragma once

#include "core/mariadb/session.h"
#include "core/operate/gate.h"
#include "core/operate/releasemethod.h"

namespace lockscope::operate {

// What the gate knows of its questions.
[[nodiscard]] SqlWriteWords postgreSqlWriteWords();

[[nodiscard]] Task<Result<Sent>> sendPostgreSqlRelease(ForceReleasePlan plan, mariadb::Session *session,
                                                       Deadline deadline);
// The plan with what the server says of what else goes with the backend. For plans that terminate; any other comes
// back as it is. Reads only.
[[nodiscard]] Task<ForceReleasePlan> withBackendLosses(ForceReleasePlan plan, mariadb::Session *session,
                                                       Deadline deadline);

} // namespace lockscope::operate
