// SPDX-License-Identifier: Apache-2.0
// sql-for-update: a row locked for the length of a transaction.
#pragma once

#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/transactionlock.h"

namespace lockscope::recipes {

class ForUpdateLock final : public TransactionLock {
public:
    ForUpdateLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~ForUpdateLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;
    Task<Result<mariadb::Rows>> lockRow(mariadb::ConnectionId connection, Deadline deadline);
    [[nodiscard]] mariadb::Statement whetherMine() const override;

    RowName m_row;
};

} // namespace lockscope::recipes
