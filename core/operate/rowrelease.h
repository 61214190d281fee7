// SPDX-License-Identifier: Apache-2.0
// Force-release of Liquibase's and ShedLock's locks: one row, changed by an UPDATE that compares who has set it, and
// when.
#pragma once

#include "core/mariadb/session.h"
#include "core/operate/releaseact.h"

namespace lockscope::operate {

[[nodiscard]] bool hasRow(const inspect::Contender &one);
void planClearRow(ForceReleasePlan &plan, const inspect::Contender &holder);
[[nodiscard]] QString askedAgain(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
[[nodiscard]] Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, Deadline deadline);

} // namespace lockscope::operate
