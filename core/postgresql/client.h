// SPDX-License-Identifier: Apache-2.0
// The real session on a PostgreSQL: that of core/mariadb/client.h in another dialect. KILL is pg_cancel_backend and
// pg_terminate_backend there, for this very backend: its process number comes again, its start does not.
//
// The port is that of core/mariadb/session.h; errors by their SQLSTATE. What differs: a statement that fails inside
// of a transaction ends all of it, and what follows is refused until its ROLLBACK.
#pragma once

#include "core/mariadb/client.h"

namespace lockscope::postgresql {

// Returns at once, in state Connecting. Loop thread only. The options' dialect is set here.
[[nodiscard]] std::unique_ptr<mariadb::Session> openSession(Loop &loop, mariadb::SessionOptions options);

} // namespace lockscope::postgresql
