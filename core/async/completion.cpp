// SPDX-License-Identifier: Apache-2.0
#include "core/async/completion.h"

namespace lockscope::detail {

namespace {

struct Telling {
    using MovesAsBytes = void;
    SharedState keep;
    void operator()() const
    {
        if (const auto told = std::move(keep->listener))
            told();
        if (const auto waiting = std::exchange(keep->waiter, {}))
            waiting.resume();
    }
};

} // namespace

void CompletionState::tell(const SharedState &state)
{
    state->isComplete = true;
    state->timer.cancel();
    if (!state->waiter && !state->listener)
        return;
    state->loop->post(Telling{state});
}

} // namespace lockscope::detail
