// SPDX-License-Identifier: Apache-2.0
// The simulated servers that a release is rehearsed on: one kind per backend, each in a file of its own.
#pragma once

#include "core/contention/servers.h"
#include "core/operate/forcerelease.h"

namespace lockscope::rehearse {

struct StageContext {
    const operate::ForceReleasePlan &plan;
    const contention::Scenario &scenario;
    VirtualLoop &world;
    sim::Network &network;
    contention::Trace &trace;
};

class Stage {
public:
    virtual ~Stage() = default;
    // Contenders of one process share what its client would share.
    [[nodiscard]] virtual std::unique_ptr<contention::ContenderAccess> open(sim::Process &process, int contender) = 0;
    // The plan's release, sent to the hold that this contender has here.
    [[nodiscard]] virtual Task<Result<operate::Sent>> release(operate::ForceReleasePlan plan, int contender,
                                                              recipes::Grant grant) = 0;
};

[[nodiscard]] std::unique_ptr<Stage> makeStage(const StageContext &context);
#define LOCKSCOPE_STAGE(Name) [[nodiscard]] std::unique_ptr<Stage> make##Name##Stage(const StageContext &context);
LOCKSCOPE_BACKENDS(LOCKSCOPE_STAGE)
#undef LOCKSCOPE_STAGE

// The number of the process that the release is sent from: the first that is no contender's, since a network has a
// place for each number up to the greatest.
[[nodiscard]] inline int operatorProcess(const contention::Scenario &scenario)
{
    return scenario.contenders;
}

} // namespace lockscope::rehearse
