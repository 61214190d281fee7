// SPDX-License-Identifier: Apache-2.0
// sql-for-update: a row locked for the length of a transaction.
#pragma once

#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

class ForUpdateLock final : public SqlLock {
public:
    ForUpdateLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~ForUpdateLock() override { shutDown(); }

    // UnknownOutcome when the connection broke while the COMMIT was out: the lock is gone in any case,
    // whether what was written stays is not known.
    Task<Result<void>> release(Deadline deadline) override;

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;
    Task<Result<mariadb::Rows>> lockRow(mariadb::ConnectionId connection, Deadline deadline);
    [[nodiscard]] mariadb::Statement whetherMine() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    RowName m_row;
};

} // namespace lockscope::recipes
