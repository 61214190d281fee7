// SPDX-License-Identifier: Apache-2.0
#include "core/async/closing.h"

#include <mutex>
#include <set>

namespace lockscope {

namespace {

std::mutex closingMutex;

std::set<WaitForClosing> &closings(Closes what)
{
    static std::set<WaitForClosing> sessions, ways;
    return what == Closes::Sessions ? sessions : ways;
}

} // namespace

void addClosing(WaitForClosing wait, Closes what)
{
    const std::lock_guard guard(closingMutex);
    closings(what).insert(wait);
}

void waitForClosing(std::chrono::milliseconds atMost)
{
    for (const auto what : {Closes::Sessions, Closes::Ways}) {
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
