// SPDX-License-Identifier: Apache-2.0
#include "ui/models/screenclock.h"

namespace lockscope::ui {

using namespace std::chrono_literals;

namespace {

constexpr auto ticksEvery = 500ms;
// News may come with every frame; nobody reads ages that fast.
constexpr auto soonestAfter = 100ms;

} // namespace

ScreenClock::ScreenClock(QObject *parent) : QObject(parent)
{
    m_timer.setInterval(ticksEvery);
    connect(&m_timer, &QTimer::timeout, this, &ScreenClock::tick);
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

void ScreenClock::catchUp()
{
    if (std::chrono::steady_clock::now() - m_steady >= soonestAfter)
        tick();
}

void ScreenClock::tick()
{
    if (m_isFrozen)
        return;
    m_now = m_source();
    m_steady = std::chrono::steady_clock::now();
    emit ticked();
}

} // namespace lockscope::ui
