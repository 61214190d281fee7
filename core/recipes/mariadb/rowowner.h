// SPDX-License-Identifier: Apache-2.0
// A row that is itself a lock: a column says that it is locked, by whom or until when (Liquibase, Knex, Ghost,
// Hangfire, ShedLock and many of the kind). To lock such a row in a transaction takes nothing from its owner, who is
// not there.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/session.h"
#include "core/recipes/mariadb/rowname.h"

namespace lockscope::recipes {

// What a server answers about its own time, for refuseOwnedRow(): by its zone and by UTC, "2026-11-28 10:00:00.123",
// and in seconds since 1970.
struct ServerClock {
    QByteArray here, utc;
    qint64 seconds = 0;
};

// The column that says that the row is locked, and its value, in words; empty where none does. A flag decides before
// a time until when it is locked, that before an owner, and that before since when.
[[nodiscard]] QString whyOwned(const RowName &name, const mariadb::Rows &rows, const ServerClock &clock);
// Whether whyOwned() needs the clock.
[[nodiscard]] bool hasEndInRow(const RowName &name, const mariadb::Rows &rows);

// Refused where the row says that it is locked. `rows`: all columns of it; `clock`: a question for `here`, `utc` and
// `seconds`, which is asked only if a column needs it.
[[nodiscard]] Task<Result<void>> refuseOwnedRow(mariadb::Session *session, RowName name, mariadb::Rows rows,
                                                mariadb::Statement clock, Deadline deadline);

inline const QByteArray ownClock =
    QByteArrayLiteral("SELECT CAST(NOW(3) AS CHAR) AS here, CAST(UTC_TIMESTAMP(3) AS CHAR) AS utc, "
                      "UNIX_TIMESTAMP() AS seconds");

} // namespace lockscope::recipes
