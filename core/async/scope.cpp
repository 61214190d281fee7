// SPDX-License-Identifier: Apache-2.0
#include "core/async/scope.h"

#include <set>

namespace lockscope {

void Scope::launch(Task<void> task)
{
    const auto id = m_state->nextId++;
    auto driver = drive(std::move(task), std::weak_ptr<State>(m_state), id);
    auto at = m_state->running.emplace(id, std::move(driver)).first;
    at->second.start();
}

void Scope::cancelAll()
{
    // Moved out first: a destructor in a cancelled frame may launch or cancel again.
    auto running = std::exchange(m_state->running, {});
    running.clear();
}

Task<void> Scope::drive(Task<void> task, std::weak_ptr<State> scope, Id id)
{
    co_await task;
    if (auto alive = scope.lock())
        alive->loop->post([scope, id] {
            if (auto still = scope.lock())
                (void)still->running.extract(id); // not erase(): what the frame owned may launch something
        });
}

namespace {

std::mutex closingMutex;

// Never destroyed: a client of the C++ library may be a static object.
std::set<WaitForClosing> &closings(ClosePhase what)
{
    static auto *const all = new std::map<ClosePhase, std::set<WaitForClosing>>;
    return (*all)[what];
}

} // namespace

void addClosing(WaitForClosing wait, ClosePhase what)
{
    const std::lock_guard guard(closingMutex);
    closings(what).insert(wait);
}

void waitForClosing(std::chrono::milliseconds atMost)
{
    for (const auto what : {ClosePhase::Sessions, ClosePhase::Ways}) {
        std::set<WaitForClosing> all;
        {
            const std::lock_guard guard(closingMutex);
            all = closings(what);
        }
        for (const auto wait : all)
            wait(atMost);
    }
}

} // namespace lockscope
