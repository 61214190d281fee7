// SPDX-License-Identifier: Apache-2.0
// The etcd scene of the demo: clients that queue for a mutex.
#pragma once

#include "core/base/connectionuri.h"
#include "core/etcd/client.h"
#include "core/passage/passage.h"
#include "core/sandbox/demostage.h"

namespace lockscope::sandbox {

class DemoEtcd {
public:
    DemoEtcd(DemoStage &stage, const ConnectionSpec &server);

private:
    Task<void> contend(QByteArray lock, std::chrono::milliseconds hold, Completion<bool> joined);

    DemoStage &m_stage;
    std::shared_ptr<passage::Passage> m_passage;
    std::vector<HostPort> m_hosts; // or the doors to them
    Scope m_scope;
};

} // namespace lockscope::sandbox
