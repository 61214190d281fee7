// SPDX-License-Identifier: Apache-2.0
// The locks on a PostgreSQL, and what they are called; each one's rules stand in its own file.
#pragma once

#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

// What a lock on a PostgreSQL is called: "ADVISORY#42" or "ADVISORY#7,42" for an advisory lock, "public.stock#id=1"
// for a row (rowname.h, whose words these are), "public.jobs#state=ready" for a queue of them.
struct AdvisoryName {
    QByteArrayList keys; // one of 64 bits, or two of 32, as the server reads numbers
};
[[nodiscard]] Result<AdvisoryName> readAdvisoryName(const QByteArray &lock);

// For refuseOwnedRow().
inline const QByteArray pgClock = QByteArrayLiteral(
    "SELECT localtimestamp(3)::text AS here, (now() AT TIME ZONE 'UTC')::timestamp(3)::text AS utc, "
    "extract(epoch FROM now())::bigint::text AS seconds");

// In PostgreSQL's quotes.
[[nodiscard]] QByteArray pgTable(const RowName &row);
[[nodiscard]] QByteArray pgCondition(const RowName &row);

// pg-advisory: a lock by a number, held by a connection.
class AdvisoryLock final : public NamedLock {
public:
    AdvisoryLock(mariadb::Session &session, const QByteArray &lock, AdvisoryName name);
    ~AdvisoryLock() override { shutDown(); }

private:
    Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) override;
    [[nodiscard]] mariadb::Statement ownershipQuery() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    AdvisoryName m_name;
    QByteArray m_places; // "?" or "?, ?"
};

// pg-for-update: a row locked for the length of a transaction.
class PgRowLock final : public TransactionLock {
public:
    PgRowLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~PgRowLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;

    RowName m_row;
};

// pg-skip-locked: any one row of a work queue, held for the length of a transaction.
class SkipLockedLock final : public TransactionLock {
public:
    // `queue`: the rows that fit, as the name of one.
    SkipLockedLock(mariadb::Session &session, const QByteArray &lock, RowName queue);
    ~SkipLockedLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;
    Task<Result<bool>> tryOnce(mariadb::ConnectionId connection, Deadline deadline);

    RowName m_queue;
};

} // namespace lockscope::recipes
