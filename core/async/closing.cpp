// SPDX-License-Identifier: Apache-2.0
#include "core/async/closing.h"

#include <mutex>
#include <set>

namespace lockscope {

namespace {

std::mutex closingMutex;

std::set<WaitForClosing> &closings(ClosePhase what)
{
    static std::set<WaitForClosing> sessions, ways;
    return what == ClosePhase::Sessions ? sessions : ways;
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
