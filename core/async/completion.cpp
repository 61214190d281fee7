// SPDX-License-Identifier: Apache-2.0
#include "core/async/completion.h"

namespace lockscope::detail {

void CompletionState::tell(const SharedState &state)
{
    state->isComplete = true;
    state->timer.cancel();
    if (!state->waiter && !state->listener)
        return;
    state->loop->post([keep = state] {
        if (auto told = std::exchange(keep->listener, {}))
            told();
        if (auto waiting = std::exchange(keep->waiter, {}))
            waiting.resume();
    });
}

} // namespace lockscope::detail
