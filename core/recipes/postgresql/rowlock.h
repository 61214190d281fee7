// SPDX-License-Identifier: Apache-2.0
// pg-for-update: a row locked for the length of a transaction.
#pragma once

#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

// What holds by a transaction, whatever its statement asks for.
class PgTransactionLock : public SqlLock {
public:
    // UnknownOutcome when the connection broke while the COMMIT was out: the lock is gone in any case,
    // whether what was written stays is not known.
    Task<Result<void>> release(Deadline deadline) final;

protected:
    using SqlLock::SqlLock;
    [[nodiscard]] mariadb::Statement whetherMine() const final;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const final;
};

class PgRowLock final : public PgTransactionLock {
public:
    PgRowLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~PgRowLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;

    RowName m_row;
};

} // namespace lockscope::recipes
