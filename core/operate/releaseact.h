// SPDX-License-Identifier: Apache-2.0
// The one moment in which something is taken away: the guarded command itself.
#pragma once

#include "core/operate/forcerelease.h"

namespace lockscope::operate {

struct Sent {
    qint64 told = 0; // subscribers; 0 where nothing is published
    QString where;   // of a set: on how many of its nodes
};
// Refused when the hold was gone or another's at the last look; UnknownOutcome when the answer was lost;
// else what the server said.
[[nodiscard]] Task<Result<Sent>> sendRelease(ForceReleasePlan plan, ForceReleaseTools tools, Deadline deadline);

// "… is gone already: nothing was sent", for whoever let go before we acted.
[[nodiscard]] Error goneAlready(const ForceReleasePlan &plan);
[[nodiscard]] Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what);

} // namespace lockscope::operate
