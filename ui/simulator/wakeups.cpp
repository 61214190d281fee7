// SPDX-License-Identifier: Apache-2.0
// What a lesson's rays show: whom the last event of a server woke, and what came of it.
#include "ui/simulator/playedrun.h"

#include <algorithm>

namespace lockscope::ui {

using contention::Event;
using contention::Mark;

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
