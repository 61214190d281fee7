// SPDX-License-Identifier: Apache-2.0
#include "ui/simulator/signtimes.h"

#include "ui/simulator/messagepaint.h"

#include <algorithm>

namespace lockscope::ui {

using contention::Mark;

SignTimes::SignTimes(const PlayedRun &run)
{
    readScenario(run.recording().scenario);
    readEvents(run);
    if (hasMessagesToShow(run))
        readMessages(run);
}

void SignTimes::see(LaneGlyph sign, contention::Moment at)
{
    const auto [known, isNew] = m_first.try_emplace(sign, at);
    if (!isNew)
        known->second = std::min(known->second, at);
}

void SignTimes::readScenario(const contention::Scenario &scenario)
{
    for (const auto always : {LaneGlyph::Waits, LaneGlyph::Holds, LaneGlyph::Request})
        see(always);
    if (scenario.readersPercent > 0)
        see(LaneGlyph::Reads);
    if (scenario.locks > 1 || scenario.acquires > 1)
        see(LaneGlyph::HasOne);
    if (contention::isOptimistic(scenario.recipe))
        see(LaneGlyph::Works);
}

void SignTimes::readEvents(const PlayedRun &run)
{
    const auto crash = nameOf(contention::FaultKind::Crash);
    const bool showsMessages = hasMessagesToShow(run);
    for (const auto &event : run.recording().events) {
        switch (event.mark) {
        case Mark::WatchEvent:
        case Mark::Message:
            see(event.isWasted ? LaneGlyph::WokenInVain : LaneGlyph::Woken, event.at);
            if (showsMessages)
                see(LaneGlyph::SentEvent, event.at);
            break;
        case Mark::Pauses: see(LaneGlyph::Paused, event.at); break;
        case Mark::Dies: see(LaneGlyph::Dead, event.at); break;
        case Mark::GivesUp: see(LaneGlyph::GivesUp, event.at); break;
        case Mark::Loses: see(LaneGlyph::Loses, event.at); break;
        case Mark::Breaks: see(LaneGlyph::Breaks, event.at); break;
        case Mark::Writes: see(LaneGlyph::Write, event.at); break;
        case Mark::Acts: see(LaneGlyph::Act, event.at); break;
        // On a lane; whoever crashes has the sign of the dead there.
        case Mark::Fault:
            if (event.contender >= 0 && event.what != crash)
                see(LaneGlyph::Fault, event.at);
            break;
        default: break;
        }
        if (event.what == "refused")
            see(LaneGlyph::WriteRefused, event.at);
    }
}

void SignTimes::readMessages(const PlayedRun &run)
{
    see(LaneGlyph::SentRequest);
    see(LaneGlyph::SentReply);
    if (!run.serverFaults().empty())
        see(LaneGlyph::Fault, run.serverFaults().front());
    const auto &history = run.recording().history;
    for (const auto &change : history.changes) {
        if (change.line.name.isEmpty() && change.line.text == "down")
            see(LaneGlyph::ServerDown, change.at);
    }
    for (const auto &message : history.messages) {
        if (!message.arrives)
            see(LaneGlyph::SentInVain, message.at);
    }
}

} // namespace lockscope::ui
