// SPDX-License-Identifier: Apache-2.0
// The servers of a sandbox, started without stopping the event loop. Main thread.
#pragma once

#include "core/async/completion.h"
#include "core/sandbox/sandbox.h"

namespace lockscope::ctl {

class PrivateServers {
public:
    PrivateServers(Loop &loop, sandbox::SandboxOptions options);

    // Completes when each answers or has failed (which is reported on stderr): whether any answers.
    [[nodiscard]] Completion<bool> start();
    [[nodiscard]] std::vector<ConnectionSpec> connections() const { return m_sandbox.connections(); }

private:
    Loop &m_loop;
    sandbox::Sandbox m_sandbox;
};

} // namespace lockscope::ctl
