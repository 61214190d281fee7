// SPDX-License-Identifier: Apache-2.0
#include "core/recipes/waitgroup.h"

namespace lockscope::recipes {

void WaitGroup::add(Scope &background, Task<bool> work) const
{
    ++m_list->running;
    background.launch(run(m_list, std::move(work)));
}

Completion<bool> WaitGroup::finished(Deadline deadline) const
{
    const Completion<bool> done(*m_list->loop);
    if (m_list->running == 0) {
        done.complete(!std::exchange(m_list->failed, false));
        return done;
    }
    std::erase_if(m_list->waiting, [](const auto &waiting) { return waiting.isComplete(); });
    m_list->waiting.push_back(done);
    done.completeAt(deadline, false);
    return done;
}

Task<void> WaitGroup::run(std::shared_ptr<List> list, Task<bool> work)
{
    const bool succeeded = co_await work;
    --list->running;
    list->failed = list->failed || !succeeded;
    if (list->running > 0)
        co_return;
    for (const auto &waiting : std::exchange(list->waiting, {}))
        waiting.complete(!list->failed);
    list->failed = false;
}

} // namespace lockscope::recipes
