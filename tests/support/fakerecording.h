// SPDX-License-Identifier: Apache-2.0
// Recordings that nobody played: a queue of contenders that hold one after the other, with children watch or
// predecessor watch, in whatever size a view has to bear.
#pragma once

#include "core/contention/simulation.h"

namespace lockscope::testing {

using contention::Event;
using contention::Mark;
using contention::Moment;
using contention::Recording;

struct FakeQueue {
    QByteArray recipe = "zk-mutex";
    int contenders = 10;
    bool isHerd = false;
    std::chrono::milliseconds hold{50};
    quint64 seed = 7;
};

// All join at 0 … 1 ms; contender i holds from 1 ms + i · (hold + 1 ms) on. On a release either the next is told, or
// all who wait, and those whose turn it is not ask again.
inline Recording fakeQueue(const FakeQueue &queue)
{
    using namespace std::chrono_literals;
    Recording recording;
    auto &scenario = recording.scenario;
    scenario.recipe = queue.recipe;
    scenario.contenders = queue.contenders;
    scenario.hold = queue.hold;
    scenario.seed = queue.seed;
    auto &events = recording.events;
    auto &counters = recording.counters;
    const auto add = [&](Moment at, int contender, Mark mark, bool isWasted = false, QByteArray what = {}) {
        events.push_back({at, contender, mark, isWasted, 0, std::move(what), {}});
    };
    const int n = queue.contenders;
    for (int i = 0; i < n; ++i)
        add(Moment(i * 1000 / n), i, Mark::Joins);
    for (int i = 0; i < n; ++i) {
        const Moment from = 1ms + i * (queue.hold + 1ms);
        add(from, i, Mark::Holds);
        add(from + queue.hold, i, Mark::Releases);
        add(from + queue.hold, i, Mark::Request, false, "delete");
        ++counters.requests;
        const int lastTold = queue.isHerd ? n - 1 : std::min(i + 1, n - 1);
        for (int told = i + 1; told <= lastTold; ++told) {
            add(from + queue.hold + 500us, told, Mark::WatchEvent, told != i + 1);
            ++counters.watchEvents;
            counters.wastedWakeups += told != i + 1;
        }
        for (int told = i + 1; told <= lastTold; ++told) {
            add(from + queue.hold + 600us, told, Mark::Request, false, "getChildren");
            ++counters.requests;
        }
        ++counters.grants;
        counters.waits.max = from - Moment(i * 1000 / n);
    }
    counters.waits.p99 = counters.waits.max;
    recording.elapsed = events.back().at;
    return recording;
}

// As fakeQueue, and a planned fault is an event of its contender.
inline Result<Recording> fakeSimulate(const contention::Scenario &scenario, const contention::OnProgress &onProgress)
{
    if (onProgress && !onProgress({Moment{}, 0, scenario.contenders}))
        return Error{ErrorCode::Cancelled, QStringLiteral("cancelled")};
    auto recording = fakeQueue(
        {scenario.recipe, scenario.contenders, scenario.recipe == "zk-herd-mutex", scenario.hold, scenario.seed});
    recording.scenario = scenario;
    for (const auto &fault : scenario.planned) {
        const Event event{fault.at, fault.contender, Mark::Fault, false, 0, nameOf(fault.kind), {}};
        const auto place = std::upper_bound(recording.events.begin(), recording.events.end(), event,
                                            [](const Event &a, const Event &b) { return a.at < b.at; });
        recording.events.insert(place, event);
    }
    if (!scenario.keepsEvents)
        recording.events.clear();
    return recording;
}

} // namespace lockscope::testing
