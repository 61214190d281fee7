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

CompletionState::Listener bothOf(CompletionState::Listener &&first, CompletionState::Listener &&second)
{
    return [first = std::move(first), second = std::move(second)] {
        first();
        second();
    };
}

} // namespace

void CompletionState::tell(const SharedState &state)
{
    state->isComplete = true;
    state->timer.cancel();
    if (!state->waiter && !state->listener)
        return;
    state->loop->post(Telling{state});
}

void CompletionState::setListener(Listener &&next)
{
    listener = isObserved && listener ? bothOf(std::move(listener), std::move(next)) : std::move(next);
}

void CompletionState::setObserver(Listener &&observer)
{
    isObserved = true;
    listener = listener ? bothOf(std::move(observer), std::move(listener)) : std::move(observer);
}

} // namespace lockscope::detail
