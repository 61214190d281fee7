// SPDX-License-Identifier: Apache-2.0
// What the audit file says of an act on a lock.
#pragma once

#include "core/operate/forcerelease.h"

namespace lockscope::operate {

[[nodiscard]] AuditRecord recordOf(const ForceReleasePlan &plan, const QString &phase, const QString &reason,
                                   const inspect::LockSnapshot &before);
// `done`: the word for what was done, "released".
[[nodiscard]] QString auditOutcome(const Result<Sent> &sent, const QString &done);

} // namespace lockscope::operate
