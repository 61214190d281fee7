// SPDX-License-Identifier: Apache-2.0
// What the user of a connection may do on its MariaDB or MySQL.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"

#include <QStringList>

namespace lockscope::inspect {

// A sentence each, by the privileges that the server lists for CURRENT_USER(); what roles add is not in that list,
// and said not to be. `session` outlives the task.
[[nodiscard]] Task<QStringList> mariaDbRights(mariadb::Session *session, Deadline deadline);

} // namespace lockscope::inspect
