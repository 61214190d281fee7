// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/playedrun.h"

#include "ui/simulator/lanepaint.h"

namespace lockscope::ui {

using contention::Event;
using contention::Mark;

namespace {

constexpr std::size_t tallyStep = 1024;
constexpr int mostLanes = 100'000; // what a scenario may have; a file may claim anything

bool isSignal(const Event &event)
{
    return event.mark == Mark::WatchEvent || event.mark == Mark::Message;
}

bool isRequest(const Event &event)
{
    return event.mark == Mark::Request;
}

bool isTrouble(const Event &event)
{
    return event.mark == Mark::Fault || event.mark == Mark::Dies || event.mark == Mark::Loses
           || event.mark == Mark::GivesUp; // what broke is a line through all lanes
}

bool isWrite(const Event &event)
{
    return event.mark == Mark::Writes || event.mark == Mark::Acts;
}

bool isRelease(const Event &event)
{
    return event.mark == Mark::Releases || event.mark == Mark::Loses || event.mark == Mark::Dies;
}

void count(Tally &tally, const Event &event, bool isAboutItself)
{
    tally.requests += isRequest(event);
    tally.watchEvents += isSignal(event) && !isAboutItself;
    tally.wastedWakeups += isSignal(event) && event.isWasted;
}

// What one lane is doing, while its events are read.
struct Doing {
    LaneState state = LaneState::Away;
    bool isPaused = false;
    bool isReader = false;
    Moment since{};

    friend bool sameLook(const Doing &a, const Doing &b) { return a.state == b.state && a.isPaused == b.isPaused; }
};

Doing after(Doing doing, const Event &event, bool isOptimistic)
{
    switch (event.mark) {
    case Mark::Joins:
        if (event.what != "again")
            doing.isReader = event.what == "read";
        if (doing.state != LaneState::Holds)
            doing.state = LaneState::Waits;
        break;
    case Mark::Gets:
        if (doing.state == LaneState::Waits)
            doing.state = LaneState::HasOne;
        break;
    case Mark::Holds: doing.state = isOptimistic ? LaneState::Works : LaneState::Holds; break;
    case Mark::Releases:
    case Mark::Loses:
    case Mark::GivesUp:
        if (doing.state != LaneState::Dead)
            doing.state = LaneState::Away;
        break;
    case Mark::Pauses: doing.isPaused = true; break;
    case Mark::Resumes: doing.isPaused = false; break;
    case Mark::Dies: doing = {LaneState::Dead, false, false, doing.since}; break;
    case Mark::Comes: doing = {LaneState::Away, false, false, doing.since}; break;
    default: break;
    }
    return doing;
}

} // namespace

std::span<const quint32> LaneEvents::of(int lane) const
{
    const auto at = static_cast<std::size_t>(lane);
    if (lane < 0 || at + 1 >= m_start.size())
        return {};
    return std::span(m_events).subspan(m_start[at], m_start[at + 1] - m_start[at]);
}

std::span<const Moment> LaneEvents::momentsOf(int lane) const
{
    const auto events = of(lane);
    if (events.empty())
        return {};
    return std::span(m_moments).subspan(m_start[static_cast<std::size_t>(lane)], events.size());
}

quint32 LaneEvents::wasted(int lane, std::size_t first, std::size_t last) const
{
    const std::size_t base = m_start[static_cast<std::size_t>(lane)];
    return m_wasted[base + last] - m_wasted[base + first];
}

PlayedRun::PlayedRun(contention::Recording recording)
    : m_recording(std::move(recording)), m_lanes(std::clamp(m_recording.scenario.contenders, 0, mostLanes))
{
    indexLanes();
    indexEvents(m_signals, isSignal);
    indexEvents(m_requests, isRequest);
    indexEvents(m_troubles, isTrouble);
    indexEvents(m_writes, isWrite);
    indexNames();
    indexServers();
    m_signs = SignTimes(*this);
    tally();
}

void PlayedRun::indexServers()
{
    const auto restart = nameOf(contention::FaultKind::RestartEmpty);
    for (const auto &event : m_recording.events) {
        if (event.mark == contention::Mark::Fault && !isOfLane(event) && event.what != restart)
            m_serverFaults.push_back(event.at);
    }
    const auto &messages = m_recording.history.messages;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (!messages[i].arrives || isTold(messages[i]))
            m_unusual.push_back(static_cast<quint32>(i));
    }
}

bool PlayedRun::isTold(const contention::SentMessage &message) const
{
    return !message.toServer && message.arrives
           && std::ranges::binary_search(m_signals.momentsOf(message.contender), *message.arrives);
}

bool PlayedRun::isOfLane(const Event &event) const
{
    return event.contender >= 0 && event.contender < m_lanes;
}

void PlayedRun::indexLanes()
{
    std::vector<std::vector<LaneSpan>> lanes(static_cast<std::size_t>(m_lanes));
    std::vector<Doing> doing(lanes.size());
    const auto close = [](std::vector<LaneSpan> &lane, const Doing &was, Moment at) {
        if (was.state != LaneState::Away && at > was.since)
            lane.push_back({was.since, at, was.state, was.isPaused, was.isReader});
    };
    const bool isOptimistic = contention::isOptimistic(m_recording.scenario.recipe);
    for (const auto &event : m_recording.events) {
        if (!isOfLane(event))
            continue;
        const auto lane = static_cast<std::size_t>(event.contender);
        Doing now = after(doing[lane], event, isOptimistic);
        if (sameLook(now, doing[lane]))
            continue;
        close(lanes[lane], doing[lane], event.at);
        now.since = event.at;
        doing[lane] = now;
    }
    m_spanStart.reserve(lanes.size() + 1);
    m_spanStart.push_back(0);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        close(lanes[lane], doing[lane], end());
        m_spans.insert(m_spans.end(), lanes[lane].begin(), lanes[lane].end());
        m_spanStart.push_back(static_cast<quint32>(m_spans.size()));
    }
}

void PlayedRun::indexEvents(LaneEvents &into, bool (*wanted)(const Event &))
{
    // Counts, then places: the order within a lane stays that of time.
    into.m_start.assign(static_cast<std::size_t>(m_lanes) + 1, 0);
    for (const auto &event : m_recording.events) {
        if (isOfLane(event) && wanted(event))
            ++into.m_start[static_cast<std::size_t>(event.contender) + 1];
    }
    for (std::size_t lane = 1; lane < into.m_start.size(); ++lane)
        into.m_start[lane] += into.m_start[lane - 1];
    into.m_events.resize(into.m_start.back());
    auto next = into.m_start;
    for (std::size_t i = 0; i < m_recording.events.size(); ++i) {
        const auto &event = m_recording.events[i];
        if (isOfLane(event) && wanted(event))
            into.m_events[next[static_cast<std::size_t>(event.contender)]++] = static_cast<quint32>(i);
    }
    into.m_moments.reserve(into.m_events.size());
    into.m_wasted.reserve(into.m_events.size() + 1);
    into.m_wasted.push_back(0);
    for (const quint32 index : into.m_events) {
        into.m_moments.push_back(m_recording.events[index].at);
        into.m_wasted.push_back(into.m_wasted.back() + (m_recording.events[index].isWasted ? 1 : 0));
    }
}

void PlayedRun::indexNames()
{
    constexpr qsizetype shortest = 6; // "1" is nobody's
    std::map<QByteArray, int> names;
    for (const auto &event : m_recording.events) {
        if (event.mark == Mark::Holds && isOfLane(event) && event.what.size() >= shortest)
            names.emplace(event.what, event.contender);
    }
    if (!m_recording.history.isKept)
        return;
    m_heldAs.assign(names.begin(), names.end());
    std::ranges::stable_sort(m_heldAs, std::greater<>(), [](const auto &name) { return name.first.size(); });
}

LaneSpan PlayedRun::laneAt(int lane, Moment at) const
{
    const auto all = spans(lane);
    const auto next = std::upper_bound(all.begin(), all.end(), at,
                                       [](Moment moment, const LaneSpan &span) { return moment < span.from; });
    if (next == all.begin() || (next - 1)->to <= at)
        return {};
    return *(next - 1);
}

void PlayedRun::tally()
{
    // Optimistic: a wait goes on, try by try, to the beginning of the one that was not in vain.
    const bool isOptimistic = contention::isOptimistic(m_recording.scenario.recipe);
    std::vector<std::optional<Waited>> waiting(static_cast<std::size_t>(m_lanes));
    std::vector<std::optional<Moment>> begun(waiting.size());
    std::vector<std::optional<Waited>> failed(waiting.size()); // who gave up, unless it tries again
    const auto keep = [this](const std::optional<Waited> &wait) {
        if (wait)
            m_waits.push_back(*wait);
    };
    Tally now;
    m_isAboutItself.resize(m_recording.events.size());
    for (std::size_t i = 0; i < m_recording.events.size(); ++i) {
        if (i % tallyStep == 0)
            m_tallies.push_back(now);
        const auto &event = m_recording.events[i];
        if (isRelease(event))
            m_releases.push_back(static_cast<quint32>(i));
        if (event.mark == Mark::Releases && !m_drainFrom) {
            m_drainFrom = i;
            m_beforeDrain = now;
        }
        // Who does not wait is told about itself: that its own node went.
        m_isAboutItself[i] =
            isSignal(event) && isOfLane(event) && !waiting[static_cast<std::size_t>(event.contender)];
        count(now, event, m_isAboutItself[i]);
        if (!isOfLane(event))
            continue;
        const auto lane = static_cast<std::size_t>(event.contender);
        auto &wait = waiting[lane];
        if (event.mark == Mark::Dies) {
            wait.reset();
            failed[lane].reset();
        }
        if (event.mark == Mark::Joins && event.what == "again" && failed[lane]) {
            wait = std::exchange(failed[lane], std::nullopt);
        } else if (event.mark == Mark::Joins && !(isOptimistic && event.what == "again")) {
            keep(std::exchange(failed[lane], std::nullopt));
            wait = Waited{static_cast<quint32>(i), {}, event.at, {}};
        }
        if (event.mark == Mark::Holds) {
            m_holds.push_back(static_cast<quint32>(i));
            begun[lane] = event.at;
        }
        const bool isOver = isOptimistic ? event.mark == Mark::Writes && event.what == "accepted" && begun[lane]
                                         : event.mark == Mark::Holds || event.mark == Mark::GivesUp;
        if (isOver && wait) {
            wait->end = static_cast<quint32>(i);
            wait->until = isOptimistic ? *begun[lane] : event.at;
            if (event.mark == Mark::GivesUp)
                failed[lane] = std::exchange(wait, std::nullopt);
            else
                keep(std::exchange(wait, std::nullopt));
        }
    }
    if (isOptimistic)
        return; // whether a try ends the wait is known once it has written
    for (const auto &wait : failed)
        keep(wait);
    for (auto &wait : waiting) {
        if (!wait)
            continue;
        wait->end = static_cast<quint32>(m_recording.events.size());
        wait->until = end();
        m_waits.push_back(*wait);
    }
}

std::span<const LaneSpan> PlayedRun::spans(int lane) const
{
    const auto at = static_cast<std::size_t>(lane);
    if (lane < 0 || at + 1 >= m_spanStart.size())
        return {};
    return std::span(m_spans).subspan(m_spanStart[at], m_spanStart[at + 1] - m_spanStart[at]);
}

std::size_t PlayedRun::countUntil(Moment at) const
{
    const auto &events = m_recording.events;
    const auto end = std::upper_bound(events.begin(), events.end(), at,
                                      [](Moment moment, const Event &event) { return moment < event.at; });
    return static_cast<std::size_t>(end - events.begin());
}

Tally PlayedRun::wholeTallyAfter(std::size_t count_) const
{
    const std::size_t most = std::min(count_, eventCount());
    if (m_tallies.empty())
        return {};
    const std::size_t step = std::min(most / tallyStep, m_tallies.size() - 1);
    Tally tally = m_tallies[step];
    for (std::size_t i = step * tallyStep; i < most; ++i)
        count(tally, m_recording.events[i], m_isAboutItself[i]);
    return tally;
}

bool PlayedRun::hasDrainAfter(std::size_t count) const
{
    if (m_drainFrom)
        return count > *m_drainFrom;
    // Of what was not kept only the totals are known.
    return count >= eventCount() && (eventCount() == 0 || m_recording.isCut);
}

std::optional<Tally> PlayedRun::tallyAfter(std::size_t count) const
{
    const auto &total = m_recording.counters;
    if (!hasDrainAfter(count))
        return std::nullopt;
    if (count >= eventCount())
        return Tally{total.requests, total.watchEvents, total.wastedWakeups};
    Tally tally = wholeTallyAfter(count);
    // Never more than the totals, whatever a file says.
    tally.requests = std::min(tally.requests - m_beforeDrain.requests, total.requests);
    tally.watchEvents = std::min(tally.watchEvents - m_beforeDrain.watchEvents, total.watchEvents);
    tally.wastedWakeups = std::min(tally.wastedWakeups - m_beforeDrain.wastedWakeups, total.wastedWakeups);
    return tally;
}

Moment PlayedRun::waitP99After(std::size_t count, Moment at) const
{
    if (count >= eventCount())
        return m_recording.counters.waits.p99;
    const bool isOptimistic = contention::isOptimistic(m_recording.scenario.recipe);
    std::vector<Moment> lengths;
    for (const auto &wait : m_waits) {
        if (wait.end < count)
            lengths.push_back(wait.until - wait.since);
        else if (wait.beginning < count && !isOptimistic)
            lengths.push_back(std::max(Moment{}, at - wait.since));
    }
    if (lengths.empty())
        return {};
    const auto rank = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() * 99 + 99) / 100 - 1);
    std::ranges::nth_element(lengths, rank); // nearest rank, as the totals have it
    return *rank;
}

int PlayedRun::holderAfter(std::size_t count) const
{
    const auto after = std::lower_bound(m_holds.begin(), m_holds.end(), count);
    return after == m_holds.begin() ? contention::nobody : m_recording.events[*(after - 1)].contender;
}

std::size_t PlayedRun::lastRelease(std::size_t count) const
{
    const auto after = std::lower_bound(m_releases.begin(), m_releases.end(), count);
    return after == m_releases.begin() ? count : *(after - 1);
}

// Whom the last event of a server woke, and what came of it: what a lesson's rays show.

bool PlayedRun::isCounted(const contention::SentMessage &message) const
{
    if (!message.arrives || m_recording.scenario.perProcess > 1) // the connection is that of the first of a process
        return true;
    const auto then = std::ranges::equal_range(m_recording.events, message.toServer ? message.at : *message.arrives,
                                               {}, &Event::at);
    return std::ranges::find(then, message.contender, &Event::contender) != then.end();
}

// The client asks again until it holds, or until it has all answers.
WakeUp PlayedRun::wakeUpBy(const contention::SentMessage &message) const
{
    WakeUp woken{message.at, message.at, *message.arrives, message.contender, message.server, false};
    int open = 0;
    bool isAwake = false;
    auto event = std::ranges::lower_bound(m_recording.events, woken.ends, {}, &Event::at);
    for (; event != m_recording.events.end() && (open > 0 || event->at <= woken.ends); ++event) {
        if (event->contender != woken.lane)
            continue;
        if (event->mark == Mark::WatchEvent || event->mark == Mark::Message) {
            woken.isWasted |= !isAwake && event->isWasted;
            isAwake = true;
        } else if (isAwake && event->mark == Mark::Request) {
            ++open;
        } else if (isAwake && event->mark == Mark::Answer) {
            --open;
            woken.ends = event->at;
        } else if (isAwake && (event->mark == Mark::Holds || event->mark == Mark::Dies)) {
            woken.ends = event->at;
            break;
        }
    }
    return woken;
}

std::vector<WakeUp> PlayedRun::wakeUpsUntil(Moment until) const
{
    constexpr Moment sameEvent{50};
    const auto &messages = m_recording.history.messages;
    std::vector<WakeUp> all;
    for (auto index = m_unusual.rbegin(); index != m_unusual.rend(); ++index) {
        const auto &message = messages[*index];
        if (!message.arrives || message.at > until)
            continue;
        if (!all.empty() && all.front().sent - message.at > sameEvent)
            break;
        all.push_back(wakeUpBy(message));
    }
    if (all.empty())
        return all;
    const Moment sent = all.front().sent;
    Moment cause = sent;
    for (auto at = std::ranges::upper_bound(messages, sent, {}, &contention::SentMessage::at);
         at != messages.begin() && cause == sent;) {
        --at;
        if (at->toServer && at->arrives && *at->arrives <= sent && sent - *at->arrives <= sameEvent) {
            cause = at->at; // whose client is told of what it did itself, too
            std::erase_if(all, [&at](const WakeUp &one) { return one.lane == at->contender; });
        } else if (sent - at->at > contention::longestLatency)
            break;
    }
    for (auto &one : all)
        one.cause = cause;
    return all;
}

} // namespace lockscope::ui
