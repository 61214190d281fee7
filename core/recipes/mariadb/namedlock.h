// SPDX-License-Identifier: Apache-2.0
// A lock by a name or a number that a connection holds, whatever its transactions do, and that who holds it gets
// again: GET_LOCK, pg_advisory_lock.
#pragma once

#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

class NamedLock : public SqlLock {
public:
    [[nodiscard]] int holdCount() const final { return isHeld() ? m_count : 0; }
    Task<Result<void>> release(Deadline deadline) final;

protected:
    using SqlLock::SqlLock;
    // False: the time was over. Asked by who has it already, too. The statement of undoing() gives it back once, and
    // answers 1 in the column "again" if it was ours.
    virtual Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) = 0;

private:
    Task<Result<Grant>> reenter(Deadline deadline) final;
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) final;

    int m_count = 0;
};

} // namespace lockscope::recipes
