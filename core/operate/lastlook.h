// SPDX-License-Identifier: Apache-2.0
// The last look before something is sent, of releases and edits alike: what is said where it failed, and whether the
// one it shows still has the hold that was meant.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"

namespace lockscope::operate {

// "the last look at WHAT failed: …". Whatever became of it, it was a look: a lost answer leaves nothing
// unknown.
[[nodiscard]] Error lastLookFailed(const QString &what, const Error &why);
// The same before the first request: "nothing was changed: …".
[[nodiscard]] Error nothingChanged(const QString &what, const Error &why);

// Whether who lets go and takes the lock again has the same id as before: Redisson's thread, a connection of SQL.
[[nodiscard]] bool keepsItsId(const inspect::LockSnapshot &lock);
// Whether such a one, who holds `lock` now, was seen to let go after `shown`, the moment of what was decided on.
[[nodiscard]] bool holdsAnew(const inspect::LockSnapshot &lock, const inspect::Contender &now,
                             inspect::ServerTime shown);

} // namespace lockscope::operate
