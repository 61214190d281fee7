// SPDX-License-Identifier: Apache-2.0
// pg-advisory: a lock by a number, held by a connection.
#pragma once

#include "core/recipes/mariadb/sqllock.h"
#include "core/recipes/postgresql/names.h"

namespace lockscope::recipes {

class AdvisoryLock final : public SqlLock {
public:
    AdvisoryLock(mariadb::Session &session, const QByteArray &lock, AdvisoryName name);
    ~AdvisoryLock() override { shutDown(); }

    [[nodiscard]] int holdCount() const override { return isHeld() ? m_count : 0; }
    Task<Result<void>> release(Deadline deadline) override;

private:
    Task<Result<Grant>> reenter(Deadline deadline) override;
    Task<Result<Grant>> takeOn(mariadb::ConnectionId connection, Deadline deadline) override;
    Task<Result<void>> lock(mariadb::ConnectionId connection, Deadline deadline);
    [[nodiscard]] mariadb::Statement whetherMine() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    AdvisoryName m_name;
    QByteArray m_places; // "?" or "?, ?"
    int m_count = 0;
};

} // namespace lockscope::recipes
