// SPDX-License-Identifier: Apache-2.0
#include "core/contention/trace.h"

#include <QtEndian>

#include <algorithm>

namespace lockscope::contention {

namespace {

// How many of those added so far ended after a moment: P. Fenwick, "A New Data Structure for Cumulative Frequency
// Tables", Software: Practice and Experience 24(3), 1994.
class EndsSoFar {
public:
    explicit EndsSoFar(std::vector<Moment> all) : m_ends(std::move(all)), m_tree(m_ends.size() + 1)
    {
        std::ranges::sort(m_ends);
    }
    void add(Moment end)
    {
        const auto at = std::ranges::lower_bound(m_ends, end) - m_ends.begin();
        for (auto i = static_cast<std::size_t>(at) + 1; i < m_tree.size(); i += i & (~i + 1))
            ++m_tree[i];
        ++m_added;
    }
    [[nodiscard]] qint64 after(Moment moment) const
    {
        const auto at = std::ranges::upper_bound(m_ends, moment) - m_ends.begin();
        qint64 until = 0;
        for (auto i = static_cast<std::size_t>(at); i > 0; i -= i & (~i + 1))
            until += m_tree[i];
        return m_added - until;
    }

private:
    std::vector<Moment> m_ends;
    std::vector<qint64> m_tree;
    qint64 m_added = 0;
};

struct Pairs {
    qint64 all = 0, overtaken = 0;
};

Pairs countPairs(const std::vector<const Wait *> &waits)
{
    std::vector<Moment> ends;
    auto byAnswer = waits;
    std::vector<const Wait *> byComing;
    for (const auto *wait : waits) {
        ends.push_back(wait->ended);
        if (wait->isGranted)
            byComing.push_back(wait);
    }
    std::ranges::sort(byAnswer, {}, &Wait::answered);
    std::ranges::sort(byComing, {}, &Wait::joined);
    EndsSoFar earlier(std::move(ends));
    Pairs pairs;
    auto next = byAnswer.begin();
    for (const auto *wait : byComing) {
        for (; next != byAnswer.end() && (*next)->answered < wait->joined; ++next)
            earlier.add((*next)->ended);
        pairs.all += earlier.after(wait->joined);
        pairs.overtaken += earlier.after(wait->ended);
    }
    return pairs;
}

} // namespace

Waits percentilesOf(std::vector<Wait> &waits)
{
    if (waits.empty())
        return {};
    const auto length = [](const Wait &wait) { return wait.ended - wait.joined; };
    std::ranges::sort(waits, {}, length);
    const auto at = [&](std::size_t percent) { return length(waits[(waits.size() * percent + 99) / 100 - 1]); };
    return {at(50), at(99), length(waits.back())};
}

Fairness fairnessOf(const std::vector<Wait> &waits)
{
    std::vector<const Wait *> all, readers;
    for (const auto &wait : waits) {
        all.push_back(&wait);
        if (wait.isReader)
            readers.push_back(&wait);
    }
    const auto ofAll = countPairs(all), ofReaders = countPairs(readers);
    const auto pairs = ofAll.all - ofReaders.all;
    if (pairs == 0)
        return {};
    return {1 - static_cast<double>(ofAll.overtaken - ofReaders.overtaken) / static_cast<double>(pairs), pairs};
}

namespace {

// As "FNV-1a" of Fowler, Noll and Vo, with eight bytes at a time in the place of one, and what the product has above
// brought down again: the same everywhere. A run has millions of events.
void mix(quint64 &hash, quint64 number)
{
    constexpr quint64 prime = 0x100000001b3;
    hash = (hash ^ number) * prime;
    hash ^= hash >> 32;
}

void mix(quint64 &hash, QByteArrayView bytes)
{
    const auto *at = bytes.data();
    auto left = bytes.size();
    auto rest = quint64(left);
    for (; left >= 8; left -= 8, at += 8)
        mix(hash, qFromLittleEndian<quint64>(at));
    for (; left > 0; --left, ++at)
        rest = rest << 8 | static_cast<unsigned char>(*at);
    mix(hash, rest);
}

} // namespace

Trace::Trace(const Scenario &scenario, std::function<Moment()> now, std::size_t mostEventsKept)
    : m_scenario(scenario), m_now(std::move(now)), m_mostEventsKept(scenario.keepsEvents ? mostEventsKept : 0),
      m_isOptimistic(isOptimistic(scenario.recipe)), m_lanes(std::size_t(scenario.contenders))
{
}

void Trace::add(Event &&event)
{
    event.at = m_now();
    mix(m_hash, quint64(event.at.count()));
    mix(m_hash, quint64(event.contender) << 8 | quint64(event.mark));
    mix(m_hash, quint64(event.token));
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

// Nobody is kept out, and yet it takes time: from the first try to the beginning of the one that was not in vain.
void Trace::noteTry(Lane &lane, const Event &event)
{
    if (event.mark == Mark::Joins && event.what != "again") {
        lane.since = event.at;
        lane.answered.reset();
    }
    if (event.mark == Mark::Joins)
        lane.isWaiting = true;
    if (event.mark == Mark::Holds) {
        ++m_counters.grants;
        lane.begun = event.at;
    }
    if (event.mark == Mark::Writes && event.what == "accepted" && lane.begun)
        endWait(lane, *std::exchange(lane.begun, std::nullopt), true);
    if (event.mark == Mark::GivesUp) {
        lane.failed = event.at;
        noteReason(lane, event);
    }
    if (event.mark == Mark::Dies)
        lane.isWaiting = false;
    m_isDraining |= event.mark == Mark::Releases;
}

void Trace::note(Lane &lane, const Event &event)
{
    if (m_isOptimistic) {
        noteTry(lane, event);
        return;
    }
    switch (event.mark) {
    case Mark::Joins:
        lane.isWaiting = true;
        lane.wasWoken = false;
        // Another try of the same wait, which began with the first one.
        if (event.what == "again" && std::exchange(lane.failed, std::nullopt))
            break;
        gaveUpForGood(lane);
        if (event.what != "again")
            lane.isReader = event.what == "read";
        lane.since = event.at;
        lane.answered.reset();
        break;
    case Mark::Holds:
        ++m_counters.grants;
        endWait(lane, event.at, true);
        lane.wasWoken = false; // not in vain
        lane.wakeUp = Lane::none;
        break;
    case Mark::Gets: // not in vain: one of them is had
        lane.wasWoken = false;
        lane.wakeUp = Lane::none;
        break;
    case Mark::GivesUp:
        wasted(lane);
        if (std::exchange(lane.isWaiting, false))
            lane.failed = event.at; // unless it tries again
        noteReason(lane, event);
        break;
    case Mark::Dies: // nobody waits any more, neither served nor in vain
        wasted(lane);
        lane.isWaiting = false;
        lane.failed.reset();
        break;
    case Mark::Releases: m_isDraining = true; break;
    default: break;
    }
}

void Trace::endWait(Lane &lane, Moment end, bool isGranted)
{
    if (std::exchange(lane.isWaiting, false))
        m_waits.push_back({lane.since, std::min(lane.answered.value_or(end), end), end, isGranted, lane.isReader});
}

void Trace::noteReason(Lane &lane, const Event &event)
{
    constexpr std::size_t mostReasons = 20; // the names in them may differ: what is more is not told apart
    auto at = std::ranges::find(m_reasons, event.what);
    if (at == m_reasons.end() && m_reasons.size() < mostReasons)
        at = m_reasons.insert(at, event.what);
    lane.failedBecause = static_cast<quint8>(at == m_reasons.end() ? 0 : at - m_reasons.begin());
}

void Trace::countGivenUp(const Lane &lane)
{
    ++m_counters.gaveUp;
    ++m_counters.gaveUpBecause[m_reasons[lane.failedBecause]];
}

void Trace::gaveUpForGood(Lane &lane)
{
    const auto end = std::exchange(lane.failed, std::nullopt);
    if (!end)
        return;
    countGivenUp(lane);
    m_waits.push_back({lane.since, std::min(lane.answered.value_or(*end), *end), *end, false, lane.isReader});
}

// It was woken, and did not get the lock by that.
void Trace::wasted(Lane &lane)
{
    if (!std::exchange(lane.wasWoken, false))
        return;
    if (lane.wokenInDrain)
        ++m_counters.wastedWakeups;
    if (lane.wakeUp != Lane::none)
        m_events[lane.wakeUp].isWasted = true;
    lane.wakeUp = Lane::none;
}

void Trace::sent(int contender, const QByteArray &verb, const QByteArray &where, qint64 bytes)
{
    ++m_counters.allRequests;
    m_counters.bytes += bytes;
    if (m_isDraining)
        ++m_counters.requests;
    if (contender != nobody && m_lanes[std::size_t(contender)].isWaiting)
        ++m_counters.requestsWaiting;
    m_lastTraffic = m_now();
    add({{}, contender, Mark::Request, false, 0, verb, where});
}

void Trace::answered(int contender, const QByteArray &verb, bool isError, qint64 bytes)
{
    m_counters.bytes += bytes;
    m_lastTraffic = m_now();
    if (contender != nobody) {
        auto &lane = m_lanes[std::size_t(contender)];
        if (lane.isWaiting && !lane.answered)
            lane.answered = m_lastTraffic;
    }
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
    for (auto &lane : m_lanes) {
        if (m_isOptimistic && lane.isWaiting)
            countGivenUp(lane); // each of its tries was in vain
        if (!m_isOptimistic)
            gaveUpForGood(lane);
        endWait(lane, lane.failed.value_or(m_end.value_or(m_now())),
                false); // else it still waits, and nothing will come of it
    }
    const auto fairness = fairnessOf(m_waits);
    m_counters.fairness = fairness.share;
    m_counters.fairnessPairs = fairness.pairs;
    m_counters.waits = percentilesOf(m_waits);
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
