// SPDX-License-Identifier: Apache-2.0
// pg-advisory: a lock by a number, held by a connection.
#pragma once

#include "core/recipes/mariadb/namedlock.h"
#include "core/recipes/postgresql/names.h"

namespace lockscope::recipes {

class AdvisoryLock final : public NamedLock {
public:
    AdvisoryLock(mariadb::Session &session, const QByteArray &lock, AdvisoryName name);
    ~AdvisoryLock() override { shutDown(); }

private:
    Task<Result<bool>> ask(mariadb::ConnectionId connection, Deadline deadline) override;
    [[nodiscard]] mariadb::Statement whetherMine() const override;
    [[nodiscard]] Undo undoing(mariadb::ConnectionId connection) const override;

    AdvisoryName m_name;
    QByteArray m_places; // "?" or "?, ?"
};

} // namespace lockscope::recipes
