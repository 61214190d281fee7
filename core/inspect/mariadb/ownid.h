// SPDX-License-Identifier: Apache-2.0
// The id under which snapshots show what one of our own connections holds.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"

namespace lockscope::inspect {

// Empty where the server does not tell: without PROCESS, or while others keep what it says of transactions from being
// renewed. `recipe`: sql-for-update or sql-get-lock; none has an id of this kind else. The session holds it now.
[[nodiscard]] Task<std::optional<QByteArray>> ownContenderId(mariadb::Session *session, QByteArray recipe,
                                                             Deadline deadline);

} // namespace lockscope::inspect
