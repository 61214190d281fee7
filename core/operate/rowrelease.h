// SPDX-License-Identifier: Apache-2.0
// Force-release of Liquibase's and ShedLock's locks: one row, changed by an UPDATE that compares who has set it, and
// when.
#pragma once

#include "core/inspect/mariadb/poll.h"
#include "core/mariadb/session.h"
#include "core/operate/releasemethod.h"

namespace lockscope::operate {

[[nodiscard]] bool hasRow(const inspect::Contender &one);
// An UPDATE of that row alone; its parameters: the row's name, then who has set it, and when.
using FreeingText = QByteArray (*)(const inspect::SqlLockRow &row);
[[nodiscard]] QByteArray freeingText(const inspect::SqlLockRow &row); // MariaDB's and MySQL's
void planClearRow(ForceReleasePlan &plan, const inspect::Contender &holder, FreeingText text);
[[nodiscard]] QString askedAgain(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
// What frees the row of a client whose locks are not released from here: for a person, with the row as it was seen.
// Empty for other locks.
[[nodiscard]] QString ownFreeing(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
[[nodiscard]] Task<Result<Sent>> clearRow(ForceReleasePlan plan, mariadb::Session *session, FreeingText text,
                                          Deadline deadline);

} // namespace lockscope::operate
