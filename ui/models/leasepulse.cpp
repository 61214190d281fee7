// SPDX-License-Identifier: Apache-2.0
#include "ui/models/leasepulse.h"

#include "core/base/duration.h"

#include <algorithm>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t mostBeats = 60;
constexpr auto leastRenewal = 100ms; // less is how well clocks agree

QString span(std::chrono::system_clock::duration duration)
{
    return spokenDuration(std::max(0ms, std::chrono::duration_cast<milliseconds>(duration)));
}

} // namespace

void LeasePulse::heard(Time expires, Time now)
{
    if (!m_beats.empty() && expires < m_beats.back().expires + leastRenewal)
        return;
    m_beats.push_back({now, expires});
    if (m_beats.size() > mostBeats)
        m_beats.pop_front();
}

QString LeasePulse::text(Time now) const
{
    if (m_beats.empty())
        return u"no lease is told of it"_s;
    if (m_beats.size() == 1)
        return u"no renewal was seen in %1"_s.arg(span(now - m_beats.front().at));
    const auto renewals = static_cast<int>(m_beats.size()) - 1;
    const auto seen = m_beats.back().at - m_beats.front().at;
    const auto times = renewals == 1 ? u"once"_s : u"%1 times"_s.arg(renewals);
    return u"renewed %1 in %2, about every %3; the last time %4 ago"_s.arg(
        times, span(now - m_beats.front().at), span(seen / renewals), span(now - m_beats.back().at));
}

} // namespace lockscope::ui
