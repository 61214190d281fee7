// SPDX-License-Identifier: Apache-2.0
// Several force-releases, one after the other: each is planned on a fresh reading right before, guarded and
// recorded on its own. What was not looked for stops it: a refusal, an outcome that is not "released", a server
// that is gone. What was done stays done, and the rest is not touched.
#pragma once

#include "core/operate/forcerelease.h"
#include "core/operate/bulktargets.h"

namespace lockscope::operate {

// All outlive the task.
struct BulkTools {
    std::function<Task<Result<ForceReleasePlan>>(BulkTarget, Deadline)> plan;
    std::function<Task<Result<ForceReleaseOutcome>>(ForceReleasePlan, QString, Deadline)> act;
    std::function<void(int)> progressed; // so many are done
    Loop *loop = nullptr;
};

[[nodiscard]] Task<Result<BulkReport>> bulkRelease(std::vector<BulkTarget> targets, BulkTools tools, QString reason);

} // namespace lockscope::operate
