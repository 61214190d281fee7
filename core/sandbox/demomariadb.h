// SPDX-License-Identifier: Apache-2.0
// The MariaDB scenes of the demo: clients that queue for a row, for a named lock, and two that write by a
// version column and get into each other's way.
#pragma once

#include "core/base/connectionuri.h"
#include "core/mariadb/client.h"
#include "core/passage/passage.h"
#include "core/recipes/lock.h"
#include "core/sandbox/demostage.h"

namespace lockscope::sandbox {

class DemoMariaDb {
public:
    DemoMariaDb(DemoStage &stage, const ConnectionSpec &server);

private:
    [[nodiscard]] JoinQueue contender(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold);
    Task<void> contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined);
    // Two read the same version, and both write: one of them in vain. Counted in shop.version_conflicts.
    Task<void> playConflict(QByteArray lock);
    Task<bool> work(recipes::Lock *lock, std::chrono::milliseconds span); // whether it could be written

    [[nodiscard]] std::unique_ptr<mariadb::Session> openSession();

    DemoStage &m_stage;
    ConnectionSpec m_server;
    passage::Passage m_passage;
    Scope m_scope;
};

} // namespace lockscope::sandbox
