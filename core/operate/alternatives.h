// SPDX-License-Identifier: Apache-2.0
// What can be done about a lock beside taking it away, which is mostly gentler, as a table: each backend has rows for
// its own, in the file that also sends them. It goes the way of a force-release (forcerelease.h): planned from a
// snapshot, read again, intent written, sent under a guard, read again, result written; the audit record's action is
// the way's word.
//
// None of them ever takes the lock from another than the one it is about; what KillWaiter removes never holds it at
// that moment.
#pragma once

#include "core/base/backendkind.h"
#include "core/operate/forcerelease.h"

namespace lockscope::operate {

// What a lease is shortened to: a client that lives renews it in time (Redisson does every 10 s), a dead one does
// not.
constexpr std::chrono::milliseconds shortenedTo{10'000};

// Who gets the lock when this waiter gives up, and who is woken by it, in words: mostly nobody.
[[nodiscard]] QString grantedIfWaiterRemoved(const inspect::LockSnapshot &snapshot, const inspect::Contender &waiter);
[[nodiscard]] QString wokenWithout(const inspect::LockSnapshot &snapshot, const inspect::Contender &waiter);
// Of --method.
[[nodiscard]] std::optional<ReleaseAction> wayNamed(const QString &word);
[[nodiscard]] QString actionOf(ReleaseAction way);

struct AlternativeMethod {
    ReleaseAction way;
    // Whether there is this way for it at all, by what the catalogue and the snapshot say.
    bool (*fits)(const inspect::LockSnapshot &snapshot, const inspect::Contender &contender);
    // One line: what would be done.
    QString (*what)(const inspect::LockSnapshot &snapshot, const inspect::Contender &contender);
    // act, commands, guardText, exact, who, alsoLost, warnings.
    void (*plan)(ForceReleasePlan &plan, const inspect::Contender &contender);
};
#define LOCKSCOPE_GENTLER(Name) [[nodiscard]] std::vector<AlternativeMethod> alternativeMethodsOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_GENTLER)
#undef LOCKSCOPE_GENTLER

// Of an act that is not a Release, by what was sent and what was read again (forcerelease.cpp).

// What the audit file says. Where the answer was lost a second look tells that who waited, or what was held, is not
// there any more; of what asks or shortens nothing is seen.
void noteAlternativeOutcome(AuditRecord &record, const ForceReleasePlan &plan, const Result<Sent> &sent,
                            const Result<inspect::LockSnapshot> &now);
// What is reported; not of one that was refused or failed.
[[nodiscard]] Result<ForceReleaseOutcome> outcomeOfAlternative(const ForceReleasePlan &plan, const ReleaseAct &act);

} // namespace lockscope::operate
