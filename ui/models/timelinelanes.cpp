// SPDX-License-Identifier: Apache-2.0
#include "ui/models/timelinelanes.h"

#include <cmath>

namespace lockscope::ui {

using EventKind = history::TimelineEvent::Kind;
using history::Moment;
using history::TimelineEvent;

namespace {

class LaneTeller {
public:
    explicit LaneTeller(Moment end) : m_end(end) {}

    void take(const TimelineEvent &event)
    {
        switch (event.kind) {
        case EventKind::IsWaiting:
        case EventKind::Queues: open(event, false, event.kind == EventKind::IsWaiting); break;
        case EventKind::HeldAtStart:
        case EventKind::Holds:
            close(event.contender.id, event.at, false);
            open(event, true, event.kind == EventKind::HeldAtStart);
            endGap(event.at);
            break;
        case EventKind::Released:
        case EventKind::ForceReleased:
        case EventKind::GivesUp:
            close(event.contender.id, event.at, event.kind == EventKind::ForceReleased);
            if (event.kind != EventKind::GivesUp && !isAny(true) && isAny(false))
                m_free = event.at;
            break;
        case EventKind::Disappears:
            while (!m_open.empty())
                close(m_open.begin()->first, event.at, false);
            m_free.reset();
            break;
        case EventKind::Unseen: m_unseen = event.at; break;
        case EventKind::SeenAgain:
            if (m_unseen)
                m_lanes.unseen.push_back({*m_unseen, event.at});
            m_unseen.reset();
            break;
        case EventKind::TtlRemoved:
        case EventKind::TtlSet:
        case EventKind::TtlShortened:
        case EventKind::DeadlockEnded:
        case EventKind::AdminAction: break;
        }
    }

    TimelineLanes finish(std::size_t mostLanes)
    {
        for (const auto &[id, lane] : m_open) {
            auto &bar = m_lanes.lanes[lane].bars.back();
            bar.to = m_end;
            bar.goesOn = true;
        }
        endGap(m_end);
        if (m_unseen)
            m_lanes.unseen.push_back({*m_unseen, m_end});
        m_lanes.leftOut = m_lanes.lanes.size() - std::min(m_lanes.lanes.size(), mostLanes);
        m_lanes.lanes.erase(m_lanes.lanes.begin(),
                            m_lanes.lanes.begin() + static_cast<std::ptrdiff_t>(m_lanes.leftOut));
        return std::move(m_lanes);
    }

private:
    void open(const TimelineEvent &event, bool holds, bool begunBefore)
    {
        const auto [at, isNew] = m_lane.try_emplace(event.contender.id, m_lanes.lanes.size());
        if (isNew)
            m_lanes.lanes.push_back({event.contender, {}});
        auto &lane = m_lanes.lanes[at->second];
        lane.contender = event.contender;
        lane.bars.push_back({event.at, event.at, holds, begunBefore, false, false});
        m_open.insert_or_assign(event.contender.id, at->second);
    }

    void close(const QByteArray &id, Moment at, bool isForced)
    {
        const auto open = m_open.find(id);
        if (open == m_open.end())
            return;
        auto &bar = m_lanes.lanes[open->second].bars.back();
        bar.to = at;
        bar.isForced = isForced;
        m_open.erase(open);
    }

    [[nodiscard]] bool isAny(bool holds) const
    {
        return std::ranges::any_of(
            m_open, [&](const auto &entry) { return m_lanes.lanes[entry.second].bars.back().holds == holds; });
    }

    void endGap(Moment at)
    {
        if (m_free && at > *m_free)
            m_lanes.gaps.push_back({*m_free, at});
        m_free.reset();
    }

    Moment m_end;
    TimelineLanes m_lanes;
    std::map<QByteArray, std::size_t> m_lane; // of a contender
    std::map<QByteArray, std::size_t> m_open; // whose last bar goes on
    std::optional<Moment> m_free;
    std::optional<Moment> m_unseen;
};

} // namespace

TimelineLanes lanesOf(const history::Timeline &timeline, Moment end, std::size_t mostLanes)
{
    LaneTeller teller(end);
    for (const auto &event : timeline.events)
        teller.take(event);
    return teller.finish(mostLanes);
}

double TimeAxis::xOf(Moment moment) const
{
    const auto part = static_cast<double>((std::clamp(moment, from, to) - from).count());
    return left + (to > from ? part / static_cast<double>((to - from).count()) : 1.0) * width;
}

Moment TimeAxis::momentAt(double x) const
{
    const double part = std::clamp((x - left) / width, 0.0, 1.0);
    return from + std::chrono::milliseconds(std::llround(part * static_cast<double>((to - from).count())));
}

std::array<int, spanBins> binsOf(const std::vector<std::chrono::milliseconds> &spans)
{
    std::array<int, spanBins> bins{};
    for (const auto span : spans) {
        std::size_t bin = 0;
        for (auto below = std::chrono::milliseconds(10); bin + 1 < spanBins && span >= below; below *= 10)
            ++bin;
        ++bins[bin];
    }
    return bins;
}

} // namespace lockscope::ui
