// SPDX-License-Identifier: Apache-2.0
#include "core/contention/trace.h"

#include <algorithm>
#include <array>

namespace lockscope::contention {

namespace {

// Fowler, Noll and Vo, "FNV-1a", 64 bits: fast, and the same everywhere.
constexpr quint64 prime = 0x100000001b3;

void mix(quint64 &hash, QByteArrayView bytes)
{
    for (const auto byte : bytes)
        hash = (hash ^ static_cast<unsigned char>(byte)) * prime;
}

// Its eight bytes, the lowest first. Most of them are zeros at the end, each of which only multiplies.
void mix(quint64 &hash, qint64 number)
{
    static constexpr auto powers = [] {
        std::array<quint64, 9> all{1};
        for (std::size_t i = 1; i < all.size(); ++i)
            all[i] = all[i - 1] * prime;
        return all;
    }();
    auto rest = static_cast<quint64>(number);
    std::size_t left = sizeof rest;
    for (; rest != 0; rest >>= 8, --left)
        hash = (hash ^ (rest & 0xff)) * prime;
    hash *= powers[left];
}

} // namespace

Trace::Trace(const Scenario &scenario, std::function<Moment()> now, std::size_t mostEventsKept)
    : m_scenario(scenario), m_now(std::move(now)), m_mostEventsKept(scenario.keepsEvents ? mostEventsKept : 0),
      m_lanes(std::size_t(scenario.contenders))
{
}

void Trace::add(Event &&event)
{
    event.at = m_now();
    mix(m_hash, event.at.count());
    mix(m_hash, event.contender);
    mix(m_hash, qint64(event.mark));
    mix(m_hash, event.token);
    mix(m_hash, event.what);
    mix(m_hash, event.where);
    if (event.contender != nobody)
        note(m_lanes[std::size_t(event.contender)], event);
    if (m_events.size() < m_mostEventsKept)
        m_events.push_back(event);
    else if (m_mostEventsKept > 0)
        ++m_notKept;
    for (const auto &listener : m_listeners)
        listener(event);
}

void Trace::note(Lane &lane, const Event &event)
{
    switch (event.mark) {
    case Mark::Joins:
        lane.isWaiting = true;
        lane.since = event.at;
        lane.wasWoken = false;
        break;
    case Mark::Holds:
        ++m_counters.grants;
        m_waits.push_back(event.at - lane.since);
        lane.waited += event.at - lane.since;
        lane.isWaiting = false;
        lane.wasWoken = false; // not in vain
        lane.wakeUp.reset();
        break;
    case Mark::GivesUp:
    case Mark::Dies:
        wasted(lane);
        lane.isWaiting = false;
        break;
    case Mark::Releases: m_isDraining = true; break;
    default: break;
    }
}

// It was woken, and did not get the lock by that.
void Trace::wasted(Lane &lane)
{
    if (!std::exchange(lane.wasWoken, false))
        return;
    if (lane.wokenInDrain)
        ++m_counters.wastedWakeups;
    if (lane.wakeUp)
        m_events[*lane.wakeUp].isWasted = true;
    lane.wakeUp.reset();
}

void Trace::sent(int contender, const QByteArray &verb, const QByteArray &where, qint64 bytes)
{
    ++m_counters.allRequests;
    m_counters.bytes += bytes;
    if (m_isDraining)
        ++m_counters.requests;
    m_lastTraffic = m_now();
    add({{}, contender, Mark::Request, false, 0, verb, where});
}

void Trace::answered(int contender, const QByteArray &verb, bool isError, qint64 bytes)
{
    m_counters.bytes += bytes;
    m_lastTraffic = m_now();
    add({{}, contender, Mark::Answer, false, 0, verb, isError ? QByteArrayLiteral("error") : QByteArray()});
}

void Trace::woken(int contender, Mark mark, const QByteArray &what, const QByteArray &where)
{
    auto &lane = m_lanes[std::size_t(contender)];
    ++m_counters.allWatchEvents;
    // Who does not wait is told about itself: its own node went.
    const bool isForItsWait = lane.isWaiting;
    if (isForItsWait) {
        wasted(lane);
        lane.wasWoken = true;
        lane.wokenInDrain = m_isDraining;
        if (m_isDraining)
            ++m_counters.watchEvents;
        if (m_events.size() < m_mostEventsKept)
            lane.wakeUp = m_events.size();
    }
    add({{}, contender, mark, false, 0, what, where});
}

void Trace::breaks(const QByteArray &invariant, int contender, const QString &message)
{
    constexpr std::size_t most = 1000; // one cause can break the same thing again and again
    if (m_violations.size() < most)
        m_violations.push_back({invariant, m_now(), message});
    add({{}, contender, Mark::Breaks, false, 0, invariant, message.toUtf8()});
}

void Trace::countWaits()
{
    if (m_waits.empty())
        return;
    std::sort(m_waits.begin(), m_waits.end());
    const auto at = [this](int percent) { return m_waits[(m_waits.size() - 1) * std::size_t(percent) / 100]; };
    m_counters.waits = {at(50), at(99), m_waits.back()};
    double sum = 0, squares = 0;
    for (const auto &lane : m_lanes) {
        const auto waited = static_cast<double>(lane.waited.count());
        sum += waited;
        squares += waited * waited;
    }
    if (squares > 0)
        m_counters.fairness = sum * sum / (static_cast<double>(m_lanes.size()) * squares);
}

Recording Trace::take(QByteArray world)
{
    for (auto &lane : m_lanes)
        wasted(lane);
    countWaits();
    Recording recording;
    recording.scenario = m_scenario;
    recording.world = std::move(world);
    recording.events = std::move(m_events);
    recording.isCut = m_notKept > 0;
    recording.eventsNotKept = m_notKept;
    recording.counters = m_counters;
    recording.violations = std::move(m_violations);
    recording.elapsed = m_now();
    recording.eventHash = m_hash;
    return recording;
}

} // namespace lockscope::contention
