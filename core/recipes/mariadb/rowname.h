// SPDX-License-Identifier: Apache-2.0
// What a lock on a SQL server is called: "shop.stock#id=1" for a row, "q.LOCKS#SCHED=s,NAME=trigger" for one whose
// key has several columns, "SHEDLOCK#shop.shedlock#nightly" for a row that is a lock by what stands in it,
// "GET_LOCK#name" for a named lock.
#pragma once

#include "core/mariadb/session.h"

namespace lockscope::recipes {

struct RowName {
    QByteArray schema, table; // as they are, unquoted
    QByteArrayList columns;   // one at least
    QByteArrayList values;    // as many

    // `shop`.`stock`, for a statement.
    [[nodiscard]] QByteArray quotedTable() const;
    // `id` = ? AND …, in the order of the values.
    [[nodiscard]] QByteArray condition() const;
};

// A row that is a lock by what stands in it. Its column `name` says which (ShedLock's columns, a mark), or `id` (a
// flag).
struct LeasedRowName {
    QByteArray schema, table; // as they are, unquoted
    QByteArray name;

    [[nodiscard]] QByteArray quotedTable() const;
};

// Schema and table end at the first "." and "#" outside backticks, a column at "=". A value ends where "," and the
// "=" of another column follow; one that could be misread stands in backticks.
[[nodiscard]] Result<RowName> readRowName(const QByteArray &lock);
// Schema and table as above; all that follows is the name.
[[nodiscard]] Result<LeasedRowName> readLeasedRowName(const QByteArray &lock);
[[nodiscard]] Result<LeasedRowName> readMarkName(const QByteArray &lock);
[[nodiscard]] Result<LeasedRowName> readFlagName(const QByteArray &lock);
// The name after "GET_LOCK#".
[[nodiscard]] Result<QByteArray> readNamedLock(const QByteArray &lock);

// A row that is itself a lock: a column says that it is locked, by whom or until when (Liquibase, Knex, Ghost,
// Hangfire, ShedLock and many of the kind). To lock such a row in a transaction takes nothing from its owner, who is
// not there.

// What a server answers about its own time, for refuseOwnedRow(): by its zone and by UTC, "2026-11-28 10:00:00.123",
// and in seconds since 1970.
struct ServerClock {
    QByteArray here, utc;
    qint64 seconds = 0;
};

// The column that says that the row is locked, and its value, in words; empty where none does. A flag decides before
// a time until when it is locked, that before an owner, and that before since when.
[[nodiscard]] QString ownedReason(const RowName &name, const mariadb::Rows &rows, const ServerClock &clock);
// Whether ownedReason() needs the clock.
[[nodiscard]] bool hasEndInRow(const RowName &name, const mariadb::Rows &rows);

// Refused where the row says that it is locked. `rows`: all columns of it; `clock`: a question for `here`, `utc` and
// `seconds`, which is asked only if a column needs it.
[[nodiscard]] Task<Result<void>> refuseOwnedRow(mariadb::Session *session, RowName name, mariadb::Rows rows,
                                                mariadb::Statement clock, Deadline deadline);

inline const QByteArray ownClock =
    QByteArrayLiteral("SELECT CAST(NOW(3) AS CHAR) AS here, CAST(UTC_TIMESTAMP(3) AS CHAR) AS utc, "
                      "UNIX_TIMESTAMP() AS seconds");

// What a lock on a PostgreSQL is called: "ADVISORY#42" or "ADVISORY#7,42" for an advisory lock, "public.stock#id=1"
// for a row (as above), "public.jobs#state=ready" for a queue of them.
struct AdvisoryName {
    QByteArrayList keys; // one of 64 bits, or two of 32, as the server reads numbers
};
[[nodiscard]] Result<AdvisoryName> readAdvisoryName(const QByteArray &lock);

} // namespace lockscope::recipes
