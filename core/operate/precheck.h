// SPDX-License-Identifier: Apache-2.0
// The last look before something is sent, of releases and edits alike: what is said where it failed, and whether the
// one it shows still has the hold that was meant.
#pragma once

#include "core/base/result.h"
#include "core/inspect/snapshot.h"

namespace lockscope::operate {

// "the last look at WHAT failed: …". Whatever became of it, it was a look: a lost answer leaves nothing unknown.
[[nodiscard]] Error lastLookFailed(const QString &what, const Error &why);
// The same before the first request: "nothing was changed: …".
[[nodiscard]] Error nothingChanged(const QString &what, const Error &why);

// Whether who lets go and takes the lock again has the same id as before: Redisson's thread, a process of Spring's or
// an object of python-redis-lock's, a connection of SQL.
[[nodiscard]] bool keepsItsId(const inspect::LockSnapshot &lock);
// Whether such a one, who holds `lock` now, was seen to let go after `shown`, the moment of what was decided on.
[[nodiscard]] bool holdsAnew(const inspect::LockSnapshot &lock, const inspect::Contender &now,
                             inspect::ServerTime shown);
// The same between two looks, of the one of that id; also where the server has another word for its hold.
[[nodiscard]] bool isAnotherHold(const inspect::LockSnapshot &before, const inspect::LockSnapshot &fresh,
                                 const QByteArray &id);
// When such a one's lease in Redis ends, in ms since 1970: with that its hold is told from the next. Nothing where
// others share what ends.
[[nodiscard]] std::optional<qint64> leaseEndOf(const inspect::LockSnapshot &lock, const inspect::Contender &one);
// How long its client may take to put the key back, should it do so: it renews at half of what it was given, so after
// no more than half of what is left. Nothing where the client is known not to, or nothing ends.
[[nodiscard]] std::optional<std::chrono::milliseconds> returnWithin(const inspect::LockSnapshot &lock,
                                                                    const inspect::Contender &holder);
// Whether a look that failed tells that nothing of the lock is there. (Unsupported: other keys are there, of a form
// that is not known.)
[[nodiscard]] inline bool isNoLock(const Error &error)
{
    return error.code == ErrorCode::NoNode || error.code == ErrorCode::Unsupported;
}
// Whether a lease that was to end at `was` (ms since 1970), and ends at `is` with so much of it left, was written
// anew sooner than a client renews it: those that do so by themselves wait for a third of it at least. Or it ends
// earlier, which no renewal makes it do.
[[nodiscard]] bool isWrittenEarly(qint64 was, qint64 is, qint64 left);
// The same of the one of that id, between two looks. Not where it was taken once more inside, as its count says.
[[nodiscard]] bool isLeaseWrittenEarly(const inspect::LockSnapshot &before, const inspect::LockSnapshot &fresh,
                                       const QByteArray &id);

// What a preview says of it behind its guard.
[[nodiscard]] QString leaseGuardText();
// And the refusal, where the server saw another lease than the last look.
[[nodiscard]] QString leaseWrittenAnewText();

} // namespace lockscope::operate
