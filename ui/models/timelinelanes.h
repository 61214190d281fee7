// SPDX-License-Identifier: Apache-2.0
// A lock's timeline as lanes: a contender each, with when it waited and when it held; and when nobody held although
// somebody waited. A pure function of the events.
#pragma once

#include "core/workspace/values.h"

#include <array>

namespace lockscope::ui {

struct TimelineBar {
    history::Moment from{}, to{};
    bool holds = false;
    bool begunBefore = false; // nobody saw it begin
    bool isForced = false;    // it was forced to end
    bool goesOn = false;      // it had not ended when the recording did
    friend bool operator==(const TimelineBar &, const TimelineBar &) = default;
};

struct TimelineLane {
    inspect::Contender contender; // as it was seen last
    std::vector<TimelineBar> bars;
};

struct TimelineSpan {
    history::Moment from{}, to{};
    friend bool operator==(const TimelineSpan &, const TimelineSpan &) = default;
};

struct TimelineLanes {
    std::vector<TimelineLane> lanes; // in the order they came
    std::vector<TimelineSpan> gaps;  // between a release and the next holder, while somebody waited
    std::vector<TimelineSpan> unseen;
    std::size_t leftOut = 0; // of the oldest lanes
};

[[nodiscard]] TimelineLanes lanesOf(const history::Timeline &timeline, history::Moment end, std::size_t mostLanes);

// A part of the time on a part of the width.
struct TimeAxis {
    history::Moment from{}, to{};
    double left = 0, width = 1;
    [[nodiscard]] double xOf(history::Moment moment) const;
    [[nodiscard]] history::Moment momentAt(double x) const;
};

// How many spans there are of each length: the first bin is below 10 ms, each next one of ten times that.
inline constexpr std::size_t spanBins = 8;
[[nodiscard]] std::array<int, spanBins> binsOf(const std::vector<std::chrono::milliseconds> &spans);

} // namespace lockscope::ui
