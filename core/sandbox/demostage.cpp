// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/demostage.h"

namespace lockscope::sandbox {

Task<void> untilConnected(DemoStage *stage, mariadb::Session *session)
{
    const Completion<bool> done(stage->loop());
    const auto subscription = session->onState([done](mariadb::SessionState) { done.complete(true); });
    if (session->state() != mariadb::SessionState::Connecting)
        co_return;
    co_await done;
}

} // namespace lockscope::sandbox
