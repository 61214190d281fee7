// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/zookeeper/clocksteps.h"

#include <algorithm>
#include <ranges>

namespace lockscope::inspect {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

milliseconds ClockSteps::setBy(qint64 czxid) const
{
    const auto last =
        std::ranges::find_if(std::views::reverse(m_steps), [czxid](const Step &step) { return step.czxid <= czxid; });
    return last == m_steps.rend() ? 0ms : last->by;
}

milliseconds ClockSteps::setBy() const
{
    return m_steps.empty() ? 0ms : m_steps.back().by;
}

bool ClockSteps::saw(qint64 czxid, ServerTime dated, ServerTime before, ServerTime now)
{
    m_isCompared = true;
    const bool isLast = m_steps.empty() || czxid > m_steps.back().czxid;
    const auto at = made(czxid, dated);
    if (!isLast || (at >= before - anotherClock && at <= now + anotherClock))
        return false;
    m_steps.push_back({czxid, dated - now});
    return true;
}

} // namespace lockscope::inspect
