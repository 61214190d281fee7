// SPDX-License-Identifier: Apache-2.0
// Waiting for a connection and for answers, as the SQL recipes do.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"

namespace lockscope::recipes {

// Until the session is connected. AuthFailed, NotConnected (closed for good) or TimedOut.
[[nodiscard]] Task<Result<void>> untilConnected(mariadb::Session *session, Deadline deadline);

// How long to wait for the answer to a statement that does not wait for anybody: not longer than the
// deadline, but long enough to learn what became of it, and not for ever.
[[nodiscard]] Deadline answerBy(const mariadb::Session &session, Deadline deadline);

} // namespace lockscope::recipes
