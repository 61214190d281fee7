// SPDX-License-Identifier: Apache-2.0
// The signs of a run's picture, and when each of them is first in it: read once, on the thread that played, for a
// legend asks at each step and there may be a million events.
#pragma once

#include "core/workspace/values.h"

#include <map>
#include <optional>

namespace lockscope::ui {

class PlayedRun;

// The marks of the picture; the legend draws them too.
enum class LaneGlyph {
    Waits,
    HasOne,
    Holds,
    Reads,
    Works,
    Paused,
    Dead,
    Woken,
    WokenInVain,
    Request,
    Write,
    WriteRefused,
    Act,
    Fault,
    ServerDown,
    GivesUp,
    Loses,
    Breaks,
    SentRequest,
    SentReply,
    SentEvent,
    SentInVain,
};

class SignTimes {
public:
    SignTimes() = default;
    explicit SignTimes(const PlayedRun &run);

    // By that moment; without one, ever.
    [[nodiscard]] bool isSeen(LaneGlyph sign, std::optional<contention::Moment> until) const
    {
        const auto first = m_first.find(sign);
        return first != m_first.end() && (!until || first->second <= *until);
    }

private:
    void see(LaneGlyph sign, contention::Moment at = contention::Moment::min());
    void readScenario(const contention::Scenario &scenario);
    void readEvents(const PlayedRun &run);
    void readMessages(const PlayedRun &run);

    std::map<LaneGlyph, contention::Moment> m_first;
};

} // namespace lockscope::ui
