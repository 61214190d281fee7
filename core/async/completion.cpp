// SPDX-License-Identifier: Apache-2.0
#include "core/async/completion.h"

namespace lockscope::detail {

CompletionState::Shared CompletionState::shared(std::unique_ptr<CompletionState> state)
{
    return {state.release(), std::default_delete<CompletionState>(), freelist::Allocator<CompletionState>()};
}

void CompletionState::tell(const Shared &state)
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
