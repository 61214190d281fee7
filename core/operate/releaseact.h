// SPDX-License-Identifier: Apache-2.0
// What the senders of all backends share: the one moment in which something is taken away is theirs. Refused when the
// hold was gone or another's at the last look; UnknownOutcome when the answer was lost; else what the server said.
#pragma once

#include "core/operate/forcerelease.h"

namespace lockscope::operate {

// What a backend's own sender says where it does not know the plan's way: nothing was sent.
[[nodiscard]] Task<Result<Sent>> nothingSent(ForceReleasePlan plan);
// "… is gone already: nothing was sent", for whoever let go before we acted.
[[nodiscard]] Error goneAlready(const ForceReleasePlan &plan);
// The lock is not shown any more, which of one that is seen only while somebody waits says nothing of its holder.
[[nodiscard]] Error unseenNow(const ForceReleasePlan &plan);
// The same after it was taken from its holder.
[[nodiscard]] QString notShownNow(const ForceReleasePlan &plan);
// The last look failed: whatever became of that, it was a look.
[[nodiscard]] Error nothingChanged(const ForceReleasePlan &plan, const Error &why);
[[nodiscard]] Error changedMeanwhile(const ForceReleasePlan &plan, const QString &what);
// Refused where it was seen to let go after the preview and took the lock again by the same id, and where its lease
// says that it may have (lastlook.h).
[[nodiscard]] std::optional<Error> refusalOfAnotherHold(const ForceReleasePlan &plan,
                                                        const inspect::LockSnapshot &fresh,
                                                        const inspect::Contender &now);

// What the audit file says of an act on a lock.
[[nodiscard]] AuditRecord recordOf(const ForceReleasePlan &plan, const QString &phase, const QString &reason,
                                   const inspect::LockSnapshot &before);
// `done`: the word for what was done, "released".
[[nodiscard]] QString auditOutcome(const Result<Sent> &sent, const QString &done);

} // namespace lockscope::operate
