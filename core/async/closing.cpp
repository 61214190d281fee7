// SPDX-License-Identifier: Apache-2.0
#include "core/async/closing.h"

#include <mutex>
#include <set>

namespace lockscope {

namespace {

std::mutex closingMutex;

std::set<WaitForClosing> &closings()
{
    static std::set<WaitForClosing> all;
    return all;
}

} // namespace

void addClosing(WaitForClosing wait)
{
    const std::lock_guard guard(closingMutex);
    closings().insert(wait);
}

void waitForClosing(std::chrono::milliseconds atMost)
{
    std::set<WaitForClosing> all;
    {
        const std::lock_guard guard(closingMutex);
        all = closings();
    }
    for (const auto wait : all)
        wait(atMost);
}

} // namespace lockscope
