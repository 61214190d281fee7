// SPDX-License-Identifier: Apache-2.0
#include "ui/models/screenclock.h"

namespace lockscope::ui {

using namespace std::chrono_literals;

namespace {

constexpr auto ticksEvery = 500ms;
// News may come with every frame; nobody reads ages that fast.
constexpr auto soonestAfter = 100ms;

bool showsFile = false;

} // namespace

void setShowsFile(bool isOfFile)
{
    showsFile = isOfFile;
}

std::chrono::milliseconds wallSetBy()
{
    return showsFile ? std::chrono::milliseconds(0) : programClock().setBy();
}

QDateTime timeOfDay(ScreenClock::Time moment)
{
    const auto wall = std::chrono::floor<std::chrono::milliseconds>(moment) + wallSetBy();
    return QDateTime::fromMSecsSinceEpoch(wall.time_since_epoch().count());
}

ScreenClock::ScreenClock(QObject *parent) : QObject(parent)
{
    m_timer.setInterval(ticksEvery);
    connect(&m_timer, &QTimer::timeout, this, &ScreenClock::lookAndTick);
    m_timer.start();
    tick();
}

void ScreenClock::setSource(Source source)
{
    m_source = std::move(source);
    tick();
}

void ScreenClock::setFrozen(bool frozen)
{
    if (std::exchange(m_isFrozen, frozen) && !frozen)
        tick();
}

void ScreenClock::standAt(std::optional<Time> moment)
{
    const bool wasElsewhere = std::exchange(m_isElsewhere, moment.has_value());
    if (!moment && !m_isFrozen) {
        tick();
        return;
    }
    if (!wasElsewhere)
        m_before = m_now;
    m_now = moment.value_or(m_before);
    m_steady = std::chrono::steady_clock::now();
    emit ticked();
}

void ScreenClock::catchUp()
{
    if (std::chrono::steady_clock::now() - m_steady >= soonestAfter)
        tick();
}

void ScreenClock::lookAndTick()
{
    if (const auto jump = programClock().takeJump()) {
        emit wallSet(*jump);
        emit ticked(); // also while it stands: what it shows has another time of day
    }
    tick();
}

void ScreenClock::tick()
{
    if (m_isFrozen || m_isElsewhere)
        return;
    m_now = m_source();
    m_steady = std::chrono::steady_clock::now();
    emit ticked();
}

} // namespace lockscope::ui

#include "moc_screenclock.cpp"
