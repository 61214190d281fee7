// SPDX-License-Identifier: Apache-2.0
// sql-get-lock: a lock with a name, held by a connection.
#pragma once

#include "core/recipes/mariadb/namedlock.h"

namespace lockscope::recipes {

class GetLockLock final : public NamedLock {
public:
    // `lock` is what it is called, `name` what the server is given.
    GetLockLock(mariadb::Session &session, const QByteArray &lock, QByteArray name);
    ~GetLockLock() override { shutDown(); }

private:
    Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) override;
    [[nodiscard]] mariadb::Statement whetherMine() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    QByteArray m_name;
};

} // namespace lockscope::recipes
