// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/playback.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockscope::ui {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto frameEvery = 16ms;
constexpr double fastest = 64; // "unlimited" is at least that, and a whole run in a second

} // namespace

Playback::Playback(QObject *parent) : QObject(parent)
{
    const auto &all = speeds();
    m_speed = static_cast<int>(std::find(all.begin(), all.end(), 1.0) - all.begin());
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(frameEvery);
    connect(&m_timer, &QTimer::timeout, this, [this] { advance(Moment(m_sinceFrame.nsecsElapsed() / 1000)); });
}

void Playback::setRuns(std::vector<PlayedRunPtr> runs)
{
    pause();
    m_runs = std::move(runs);
    m_end = {};
    for (const auto &run : m_runs)
        m_end = std::max(m_end, run->end());
    m_happened.assign(m_runs.size(), 0);
    toEnd();
}

bool Playback::isAtEnd() const
{
    return happenedInAll() == eventsInAll();
}

std::size_t Playback::happenedInAll() const
{
    return std::accumulate(m_happened.begin(), m_happened.end(), std::size_t(0));
}

std::size_t Playback::eventsInAll() const
{
    return std::accumulate(m_runs.begin(), m_runs.end(), std::size_t(0),
                           [](std::size_t sum, const PlayedRunPtr &run) { return sum + run->eventCount(); });
}

std::optional<std::size_t> Playback::lastRun() const
{
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (m_happened[i] == 0)
            continue;
        if (!last || m_runs[i]->event(m_happened[i] - 1).at >= m_runs[*last]->event(m_happened[*last] - 1).at)
            last = i;
    }
    return last;
}

void Playback::seek(Moment at)
{
    m_at = std::clamp(at, Moment{}, m_end);
    for (std::size_t i = 0; i < m_runs.size(); ++i)
        m_happened[i] = m_runs[i]->countUntil(m_at);
    emit moved();
}

void Playback::stepForward()
{
    pause();
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (m_happened[i] == m_runs[i]->eventCount())
            continue;
        if (!next || m_runs[i]->event(m_happened[i]).at < m_runs[*next]->event(m_happened[*next]).at)
            next = i;
    }
    if (!next)
        return;
    m_at = m_runs[*next]->event(m_happened[*next]++).at;
    emit moved();
}

void Playback::stepBack()
{
    pause();
    const auto last = lastRun();
    if (!last)
        return;
    --m_happened[*last];
    const auto now = lastRun();
    m_at = now ? m_runs[*now]->event(m_happened[*now] - 1).at : Moment{};
    emit moved();
}

void Playback::toStart()
{
    m_at = {};
    std::fill(m_happened.begin(), m_happened.end(), 0);
    emit moved();
}

void Playback::toEnd()
{
    seek(m_end);
}

void Playback::play()
{
    if (m_runs.empty() || isPlaying())
        return;
    if (isAtEnd())
        toStart();
    m_sinceFrame.start();
    m_timer.start();
    emit playingChanged(true);
}

void Playback::pause()
{
    if (!isPlaying())
        return;
    m_timer.stop();
    emit playingChanged(false);
}

void Playback::advance(Moment byTheWall)
{
    m_sinceFrame.restart();
    double speed = speeds()[static_cast<std::size_t>(m_speed)];
    if (speed == 0)
        speed = std::max(fastest, static_cast<double>(m_end.count()) / 1e6);
    seek(m_at + Moment(std::llround(static_cast<double>(byTheWall.count()) * speed)));
    if (m_at >= m_end)
        pause();
}

const std::vector<double> &Playback::speeds()
{
    static const std::vector<double> all{1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1, 2, 4, 8, 16, 64, 0};
    return all;
}

QString Playback::speedText(double speed)
{
    if (speed == 0)
        return tr("unlimited");
    return speed < 1 ? u"1/%1 ×"_s.arg(std::lround(1 / speed)) : u"%1 ×"_s.arg(std::lround(speed));
}

void Playback::setSpeed(int speed)
{
    const int now = std::clamp(speed, 0, static_cast<int>(speeds().size()) - 1);
    if (now == m_speed)
        return;
    m_speed = now;
    emit speedChanged(now);
}

} // namespace lockscope::ui
