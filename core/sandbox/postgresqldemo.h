// SPDX-License-Identifier: Apache-2.0
// The PostgreSQL scenes of the demo: clients that queue for a row and for an advisory lock.
#pragma once

#include "core/base/connectionuri.h"
#include "core/postgresql/dialect.h"
#include "core/sandbox/demostage.h"

namespace lockscope::sandbox {

class DemoPostgreSql {
public:
    DemoPostgreSql(DemoStage &stage, const ConnectionSpec &server);

private:
    [[nodiscard]] JoinQueue contender(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold);
    Task<void> contend(QByteArray recipe, QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined);

    DemoStage &m_stage;
    ConnectionSpec m_server;
    Scope m_scope;
};

} // namespace lockscope::sandbox
