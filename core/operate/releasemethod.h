// SPDX-License-Identifier: Apache-2.0
// The ways of force-release as a table: each backend has rows for its own, in the file that also sends them.
#pragma once

#include "core/operate/forcerelease.h"
#include "core/rules/catalogue.h"

namespace lockscope::operate {

using recipes::ReleaseMechanism;

// How a lock is force-released, if it is.

// Never None: Unsupported, with the reason, for a hold that cannot be taken away.
[[nodiscard]] Result<ReleaseMechanism> releaseWay(const inspect::LockSnapshot &snapshot);

struct ReleaseMethod {
    ReleaseMechanism way;
    // Commands, guard and what is special about it, written into the plan.
    void (*plan)(ForceReleasePlan &plan, const inspect::Contender &holder);
    // Who hears of it, and by what.
    QString (*wakes)(const inspect::LockSnapshot &snapshot, const inspect::Contender &holder);
    // Whether the guard says enough to tell this hold from a later one; by its value where there is nothing here.
    bool (*isIdentified)(const inspect::Contender &holder) = nullptr;
    bool endsConnection = false; // so the old holder's next statement fails
};
[[nodiscard]] const ReleaseMethod &methodOf(ReleaseMechanism way); // not of None
// Whom the operator means by an id or "session:0x…"; Refused where that could be another by now.
[[nodiscard]] Result<const inspect::Contender *> meant(const inspect::LockSnapshot &snapshot,
                                                       const QByteArray &holder);

#define LOCKSCOPE_RELEASES(Name) [[nodiscard]] std::vector<ReleaseMethod> releaseMethodsOf##Name();
LOCKSCOPE_BACKENDS(LOCKSCOPE_RELEASES)
#undef LOCKSCOPE_RELEASES

// What the senders of all backends share: the one moment in which something is taken away is theirs. Refused when the
// hold was gone or another's at the last look; UnknownOutcome when the answer was lost; else what the server said.

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
// says that it may have (precheck.h).
[[nodiscard]] std::optional<Error> refusalOfAnotherHold(const ForceReleasePlan &plan,
                                                        const inspect::LockSnapshot &fresh,
                                                        const inspect::Contender &now);

// One hold that stands on several nodes of a set, each of which keeps the lock by itself: RedissonRedLock's, and
// members of a set as of npm's RedlockSemaphore. Redlock's own tokens go another way
// (ReleaseMechanism::QuorumDelete).
//
// Taken away node by node: each under the guard of what that node said, with an intent and a result of its own in
// the audit file. The first surprise ends it, and the outcome says which nodes were done. Not to be asked again where
// a node did not answer: what it has ends with its TTL, or is released when it answers.

// What of the contender stands on which node; empty for a lock of no set, and where it is not sure that the nodes
// mean the same hold.
[[nodiscard]] std::vector<NodeShare> sharesOf(const inspect::LockSnapshot &snapshot,
                                              const inspect::Contender &holder);

// The plan of the one node's way, for each of the shares.
void planShares(ForceReleasePlan &plan, const inspect::Contender &holder, const ReleaseMethod &method);

// What is sent to one of the nodes; `plan` without shares is itself.
[[nodiscard]] ForceReleasePlan planOfShare(const ForceReleasePlan &plan, std::size_t share);

// What was done when something else came than was looked for at the share so numbered.
[[nodiscard]] Error stoppedAt(const ForceReleasePlan &plan, std::size_t share, const Error &surprise);

// "on 3 of 3 nodes (a:1, b:1, c:1)"
[[nodiscard]] QString whereDone(const ForceReleasePlan &plan);

// What can be done about a lock beside taking it away, which is mostly gentler, as a table: each backend has rows for
// its own, in the file that also sends them. It goes the way of a force-release (forcerelease.h): planned from a
// snapshot, read again, intent written, sent under a guard, read again, result written; the audit record's action is
// the way's word.
//
// None of them ever takes the lock from another than the one it is about; what KillWaiter removes never holds it at
// that moment.

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
