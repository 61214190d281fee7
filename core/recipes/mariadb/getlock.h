// SPDX-License-Identifier: Apache-2.0
// sql-get-lock: a lock with a name, held by a connection.
#pragma once

#include "core/recipes/mariadb/sqllock.h"

namespace lockscope::recipes {

class GetLockLock final : public SqlLock {
public:
    // `lock` is what it is called, `name` what the server is given.
    GetLockLock(mariadb::Session &session, const QByteArray &lock, QByteArray name);
    ~GetLockLock() override { shutDown(); }

    [[nodiscard]] int holdCount() const override { return isHeld() ? m_count : 0; }
    Task<Result<void>> release(Deadline deadline) override;

private:
    Task<Result<Grant>> reenter(Deadline deadline) override;
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;
    Task<Result<bool>> getLock(mariadb::ConnectionId connection, Deadline deadline);
    [[nodiscard]] mariadb::Statement whetherMine() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    QByteArray m_name;
    int m_count = 0;
};

} // namespace lockscope::recipes
