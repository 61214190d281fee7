// SPDX-License-Identifier: Apache-2.0
// Whether a transaction is still the one that was seen to hold a row, asked in ways that nobody can make old.
#pragma once

#include "core/async/task.h"
#include "core/mariadb/freshness.h"
#include "core/operate/killtarget.h"

namespace lockscope::operate {

// Three sums over INNODB_TRX (called t), in SQL, for fresh, present and same: whether the copy was made while this
// was asked, whether the connection has a transaction, and whether that is the one.
[[nodiscard]] QByteArray rowFacts(const KillTarget &target);
// By these, in a question of its own, where there are no blocks: Killed where it holds and may be killed.
[[nodiscard]] Task<Result<KillVerdict>> lookAfresh(KillTarget target, Deadline deadline);
// Without a copy. Where data_locks are told, these are what is; else SHOW ENGINE INNODB STATUS is printed from it.
[[nodiscard]] Task<Result<mariadb::InStatus>> lookAtWhatIs(KillTarget target, Deadline deadline);
// INNODB_TRX has a number for a transaction that has locked for reading only, too: 0, or where it stands in memory,
// which the next one of that connection has as well.
[[nodiscard]] bool isNumbered(const QByteArray &transaction);

} // namespace lockscope::operate
