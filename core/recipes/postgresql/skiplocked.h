// SPDX-License-Identifier: Apache-2.0
// pg-skip-locked: any one row of a work queue, held for the length of a transaction.
#pragma once

#include "core/recipes/mariadb/rowname.h"
#include "core/recipes/mariadb/transactionlock.h"

namespace lockscope::recipes {

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
