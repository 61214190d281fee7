// SPDX-License-Identifier: Apache-2.0
// Plays a scenario on the real servers of a connection: contenders of ours, in sessions of their own, on a lock
// that is this run's alone and is taken away at the end.
//
// Everything goes through the connection's gate. Refused on a read-only connection, and always on one marked
// production; faults are for the simulated world. Loop thread only; the workspace outlives it.
#pragma once

#include "core/contention/round.h"
#include "core/workspace/realrunrules.h"
#include "core/workspace/workspace.h"

namespace lockscope {

class RealRun {
public:
    RealRun(Workspace &workspace, RealRunOptions options);
    ~RealRun();

    // The recording's world is the connection's name; its note says how many share a session.
    [[nodiscard]] Task<Result<contention::Recording>> play();
    // Ends the run; play() still takes away what it made, then says Cancelled.
    void cancel();
    [[nodiscard]] RealRunProgress progress() const;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace lockscope
