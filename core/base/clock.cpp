// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"

#include "core/base/text.h"

#include <QDateTime>

#include <ctime>

namespace lockscope {

// Less is the two clocks read one after the other, or a correction that nobody sees in an age.
constexpr auto leastJump = 100ms;
constexpr auto readsWithin = 20ms;

QString wordsOf(const ClockJump &jump)
{
    const auto at = std::chrono::floor<std::chrono::milliseconds>(jump.at).time_since_epoch();
    return u"this machine's clock was set %1 %2 at %3; ages are not changed by it"_s.arg(
        formatDuration(std::chrono::abs(jump.by)), jump.by < 0ms ? u"back"_s : u"forward"_s,
        QDateTime::fromMSecsSinceEpoch(at.count()).toString(u"yyyy-MM-dd HH:mm:ss"_s));
}

Clock::Clock(Source source) : m_source(std::move(source)), m_begun(m_source()) {}

ClockReading Clock::machine()
{
    const auto boot = [] {
        timespec time{};
        clock_gettime(CLOCK_BOOTTIME, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    for (;;) {
        const auto before = boot();
        const auto wall = WallTime::clock::now();
        const auto after = boot();
        if (after - before < readsWithin) // else we were stopped in between, and the two are not of one moment
            return {wall, after};
    }
}

WallTime Clock::now() const
{
    return m_begun.wall + std::chrono::duration_cast<WallTime::duration>(m_source().sinceBoot - m_begun.sinceBoot);
}

std::chrono::milliseconds Clock::setBy()
{
    const std::scoped_lock lock(m_mutex);
    const auto reading = m_source();
    const auto passed = std::chrono::duration_cast<WallTime::duration>(reading.sinceBoot - m_begun.sinceBoot);
    const auto by = std::chrono::round<std::chrono::milliseconds>(reading.wall - m_begun.wall - passed);
    if (std::chrono::abs(by - m_setBy) >= leastJump)
        m_setBy = by;
    return m_setBy;
}

std::optional<ClockJump> Clock::takeJump()
{
    const auto set = setBy();
    const std::scoped_lock lock(m_mutex);
    const auto by = set - m_told;
    if (std::chrono::abs(by) < 1s)
        return {};
    const auto unmoved = now() + m_told;
    m_told = set;
    return ClockJump{unmoved, by};
}

void Clock::setSource(Source source)
{
    m_source = std::move(source);
    m_begun = m_source();
    m_setBy = m_told = {};
}

Clock &programClock()
{
    static Clock clock;
    return clock;
}

} // namespace lockscope
