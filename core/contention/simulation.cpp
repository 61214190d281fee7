// SPDX-License-Identifier: Apache-2.0
#include "core/contention/simulation.h"

#include "core/async/arena.h"
#include "core/contention/simulatedrun.h"

namespace lockscope::contention {

using namespace Qt::StringLiterals;

Result<Recording> simulate(const Scenario &scenario, const OnProgress &onProgress)
{
    if (const auto playable = scenario.check(); !playable)
        return playable.error();
    constexpr int crowd = 1000;
    std::optional<freelist::Arena> arena;
    if (scenario.contenders >= crowd)
        arena.emplace();
    SimulatedRun run(scenario); // and whatever is of it goes before that
    if (const auto started = run.start(); !started)
        return started.error();
    const auto expected = qint64(scenario.contenders) * scenario.rounds;
    while (!run.isOver()) {
        run.advance();
        if (onProgress && !onProgress({run.now(), run.grants(), expected}))
            return Error{ErrorCode::Cancelled, u"the run was ended at %1 ms"_s.arg(run.now().count() / 1000)};
    }
    return run.take();
}

} // namespace lockscope::contention
