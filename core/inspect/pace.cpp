// SPDX-License-Identifier: Apache-2.0
#include "core/inspect/pace.h"

namespace lockscope::inspect {

namespace {

// A rate over a few milliseconds would be a burst, called a load.
constexpr double shortestSpan = 0.9;

double secondsBetween(Instant from, Instant to)
{
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

void AskedRate::note(Instant now, qint64 asked)
{
    const double seconds = secondsBetween(m_told.at, now);
    if (m_all || seconds < shortestSpan)
        return;
    m_ours = static_cast<double>(asked - m_told.asked) / seconds;
    m_told.at = now;
    m_told.asked = asked;
}

void AskedRate::noteServed(Instant now, qint64 asked, std::optional<qint64> served, int servers)
{
    const auto before = m_counted;
    // A server that began anew, or is another one, counts from elsewhere.
    const bool isComparable = served && before && before->servers == servers && before->served <= *served;
    if (isComparable && secondsBetween(before->at, now) < shortestSpan)
        return;
    m_all.reset();
    m_counted.reset();
    if (served)
        m_counted = Count{now, asked, *served, servers};
    if (!isComparable)
        return;
    const double seconds = secondsBetween(before->at, now);
    m_ours = static_cast<double>(asked - before->asked) / seconds;
    m_all = static_cast<double>(*served - before->served) / seconds;
    m_told = *m_counted;
}

} // namespace lockscope::inspect
