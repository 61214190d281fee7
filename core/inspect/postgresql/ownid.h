// SPDX-License-Identifier: Apache-2.0
// The id under which snapshots show what one of our own connections holds.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

// The session holds it now. Everybody is told of his own.
[[nodiscard]] Task<std::optional<QByteArray>> ownBackendId(mariadb::Session *session, QByteArray recipe,
                                                           Deadline deadline);

} // namespace lockscope::inspect
