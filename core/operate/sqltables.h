// SPDX-License-Identifier: Apache-2.0
// What the KILL of a table's holder is guarded by, in SQL.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"
#include "core/operate/forcereleaseplan.h"

namespace lockscope::operate {

// Whatever is in it, as a text that needs no quotes.
[[nodiscard]] QByteArray sqlLiteral(const QByteArray &text);
// Who has a table: METADATA_LOCK_INFO says it where performance_schema does not. False for locks on anything else.
[[nodiscard]] Task<bool> saysTablesByPlugin(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline);
// True in SQL while the connection has the table ("TABLE#shop.stock"), in a mode that the guard names if it names
// any.
[[nodiscard]] QByteArray hasTable(const QByteArray &lock, const QByteArray &guard, mariadb::ConnectionId connection,
                                  bool isByPlugin);

} // namespace lockscope::operate
