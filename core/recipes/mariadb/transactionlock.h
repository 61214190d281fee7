// SPDX-License-Identifier: Apache-2.0
// What is held by a transaction, whatever its statement asks for.
#pragma once

#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

class TransactionLock : public SqlLock {
public:
    // By COMMIT. UnknownOutcome when the connection broke while that was out: the lock is gone in any case,
    // whether what was written stays is not known.
    Task<Result<void>> release(Deadline deadline) final;

protected:
    using SqlLock::SqlLock;
    // It ends only with the transaction, and that only with the connection.
    [[nodiscard]] mariadb::Statement whetherMine() const override { return {"SELECT 1 AS mine", {}, {}, false}; }
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const final
    {
        return {&session(), connection, "ROLLBACK", {}};
    }
};

} // namespace lockscope::recipes
