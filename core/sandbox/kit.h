// SPDX-License-Identifier: Apache-2.0
// What the sandbox has of each backend: a private server, and what plays on it in the demo. Beside the server's code.
#pragma once

#include "core/base/backendkind.h"
#include "core/sandbox/demostage.h"
#include "core/sandbox/server.h"

namespace lockscope::sandbox {

struct SandboxKit {
    QString what; // for the help: "a ZooKeeper", "N Redis servers"
    int most;     // so many at once
    int usual;    // and without a choice
    QString user;
    Result<std::unique_ptr<Server>> (*make)();
    // The scenes go on for as long as what it returns lives.
    std::shared_ptr<void> (*play)(DemoStage &stage, const ConnectionSpec &server);
};
[[nodiscard]] const SandboxKit &kitOf(BackendKind backend);

#define LOCKSCOPE_SANDBOX(Name) [[nodiscard]] SandboxKit sandboxOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_SANDBOX)
#undef LOCKSCOPE_SANDBOX

} // namespace lockscope::sandbox
