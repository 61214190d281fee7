// SPDX-License-Identifier: Apache-2.0
// What a PostgreSQL is asked for rows that are locks (core/inspect/mariadb/lockrows.h), those of the connection's
// database. What waits for a table is ended by the session's lock_timeout.
#pragma once

#include "core/inspect/mariadb/lockrows.h"

namespace lockscope::inspect {

[[nodiscard]] const LockRowDialect &pgLockRows();

} // namespace lockscope::inspect
