// SPDX-License-Identifier: Apache-2.0
// pg-for-update: a row locked for the length of a transaction.
#pragma once

#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/transactionlock.h"

namespace lockscope::recipes {

class PgRowLock final : public TransactionLock {
public:
    PgRowLock(mariadb::Session &session, const QByteArray &lock, RowName row);
    ~PgRowLock() override { shutDown(); }

private:
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;

    RowName m_row;
};

} // namespace lockscope::recipes
