// SPDX-License-Identifier: Apache-2.0
// What the user of a connection may do on its PostgreSQL.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"

#include <QStringList>

namespace lockscope::inspect {

// A sentence each, by its memberships. `session` outlives the task.
[[nodiscard]] Task<QStringList> postgreSqlRights(mariadb::Session *session, Deadline deadline);

} // namespace lockscope::inspect
