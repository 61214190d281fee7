// SPDX-License-Identifier: Apache-2.0
#include "core/operate/forcerelease.h"

#include "core/base/text.h"
#include "core/inspect/json.h"
#include "core/operate/releasemethod.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

// Empty when the contender is in the role that the plan is about.
std::optional<Error> refusalOfRole(const ForceReleasePlan &plan, const LockSnapshot &fresh, const Contender &now)
{
    const auto *planned = plan.before.find(plan.holder);
    if (plan.way != ReleaseAction::Release) {
        const bool isSame = planned && planned->role == now.role;
        const auto role = now.role == Role::Holder ? u"it now holds the lock"_s : u"it now waits"_s;
        return isSame ? std::nullopt : std::optional(changedMeanwhile(plan, role));
    }
    if (planned && planned->role != Role::Holder && now.role == Role::Holder)
        return changedMeanwhile(plan, sentence("now-on-majority"));
    // What is left of a hold on a Redlock set may go all the same.
    if (now.role != Role::Holder && !recipes::recipeOf(fresh.recipe).quorum)
        return changedMeanwhile(plan, u"it now waits"_s);
    return std::nullopt;
}

// Empty when the same contender, in its role and with the same identity, is still there.
std::optional<Error> refusalAfterReading(const ForceReleasePlan &plan, const Result<LockSnapshot> &fresh)
{
    if (!fresh && isNoLock(fresh.error()))
        return recipes::recipeOf(plan.before.recipe).seenContended ? unseenNow(plan) : goneAlready(plan);
    if (!fresh)
        return fresh.error().code == ErrorCode::Refused ? fresh.error() : nothingChanged(plan, fresh.error());
    const auto *now = fresh->find(plan.holder);
    if (!now)
        return goneAlready(plan);
    if (auto refusal = refusalOfRole(plan, *fresh, *now))
        return refusal;
    if (sharesOf(*fresh, *now) != plan.shares)
        return changedMeanwhile(plan, sentence("now-on-other-nodes"));
    if (now->guard != plan.guard)
        return changedMeanwhile(plan, sentence("now-another-entry"));
    return refusalOfAnotherHold(plan, *fresh, *now);
}

bool stillHolds(const ForceReleasePlan &plan, const LockSnapshot &after)
{
    const auto *holder = after.find(plan.holder);
    const bool counts = holder && (holder->role == Role::Holder || recipes::recipeOf(after.recipe).quorum);
    return counts && holder->guard == plan.guard;
}

// Of etcd: its key was made anew.
bool isOfItsLease(const ForceReleasePlan &plan, const LockSnapshot &after)
{
    const auto *before = plan.before.find(plan.holder);
    return plan.before.backend == BackendKind::Etcd && before && before->session
           && std::ranges::any_of(after.contenders, [before](const auto &one) {
                  return one.role == Role::Holder && one.session == before->session;
              });
}

// Who takes it again by the same id is not said to hold it still.
QString holdsItText(const ForceReleasePlan &plan)
{
    return (keepsItsId(plan.before) ? u"%1 holds it, still or again"_s : u"%1 still holds it"_s)
        .arg(label(plan.holder, 80));
}

QString nowText(const ForceReleasePlan &plan, const std::optional<LockSnapshot> &after)
{
    QStringList holders;
    for (const auto &contender : after ? after->contenders : std::vector<inspect::Contender>()) {
        if (contender.role == Role::Holder)
            holders << label(contender.id, 80);
    }
    if (!holders.isEmpty())
        return u"it is now held by %1"_s.arg(holders.join(u", "_s));
    const int waiting = after ? after->waiterCount() : 0;
    // Who had waited alone holds it now, unseen.
    const bool isSeenContended = recipes::recipeOf(plan.before.recipe).seenContended;
    if (waiting == 0 && isSeenContended)
        return notShownNow(plan);
    if (waiting == 0)
        return u"it is free now"_s;
    if (const auto elsewhere = inspect::firstAwaitsElsewhere(*after))
        return u"no client holds it: the first in its queue waits for %1"_s.arg(label(*elsewhere, 80));
    return isSeenContended ? sentence("new-holder-unseen", {QString::number(waiting)})
                           : u"no client holds it yet (waiters: %1)"_s.arg(waiting);
}

ForceReleaseOutcome outcomeOf(const ForceReleasePlan &plan, const Result<LockSnapshot> &reread, const Sent &sent)
{
    const auto told = sent.told;
    ForceReleaseOutcome outcome;
    outcome.released = true;
    const auto lock = label(plan.before.lock.text());
    const auto where = sent.where.isEmpty() ? QString() : u' ' + sent.where;
    const auto taken = u"%1: released from %2"_s.arg(lock, label(plan.holder, 80)) + where;
    const auto woken =
        told > 0 ? u" (%1 notified)"_s.arg(amountOf(told, "subscriber"_L1, "subscribers"_L1)) : QString();
    if (reread)
        outcome.after = *reread;
    if (!reread && reread.error().code == ErrorCode::Unsupported) {
        outcome.message = u"%1%2; %3"_s.arg(taken, woken, reread.error().message);
        return outcome;
    }
    if (!reread && reread.error().code != ErrorCode::NoNode) {
        outcome.message = u"%1%2; could not re-read the lock: %3"_s.arg(taken, woken, reread.error().message);
        return outcome;
    }
    outcome.released = !outcome.after || !stillHolds(plan, *outcome.after);
    outcome.message =
        outcome.released
            ? u"%1%2; %3"_s.arg(taken, woken, nowText(plan, outcome.after))
            : u"%1: the command was executed, but %2; check the lock again"_s.arg(lock, holdsItText(plan));
    return outcome;
}

// Whether the second look saw that the hold is gone; empty: it saw neither.
std::optional<bool> isSeenGone(const ForceReleasePlan &plan, const Result<LockSnapshot> &reread)
{
    if (!reread) {
        const bool isGone =
            isNoLock(reread.error()) && !plan.onNode && !recipes::recipeOf(plan.before.recipe).seenContended;
        return isGone ? std::optional(true) : std::nullopt;
    }
    if (!plan.onNode)
        return !stillHolds(plan, *reread);
    const auto node = std::ranges::find(reread->nodes, plan.onNode->node, &inspect::NodeSaid::node);
    if (node == reread->nodes.end() || !node->answered)
        return std::nullopt;
    return node->value != plan.onNode->guard.redis().value;
}

// What is written of it: also where the answer was lost and a second look told more.
void noteOutcome(AuditRecord &record, const ForceReleasePlan &plan, const Result<Sent> &sent,
                 const Result<LockSnapshot> &reread)
{
    if (sent)
        record.outcome = sent->where.isEmpty() ? u"released"_s : u"released "_s + sent->where;
    const bool isLost = !sent && sent.error().code == ErrorCode::UnknownOutcome;
    const auto isGone = sent || isLost ? isSeenGone(plan, reread) : std::nullopt;
    record.isDone = sent ? isGone.value_or(true) : isGone.value_or(false);
    if (isLost && isGone)
        record.outcome = (*isGone ? u"reply lost; found released: %1"_s : u"reply lost; found still held: %1"_s)
                             .arg(sent.error().message);
    else if (sent && !record.isDone)
        record.outcome += clause(u"found still held"_s);
}

// The answer was lost: only a second look can tell, and what it tells is said as what it is.
Result<ForceReleaseOutcome> outcomeOfUnknown(const ForceReleasePlan &plan, const Result<LockSnapshot> &reread,
                                             const Error &lost)
{
    const auto isGone = isSeenGone(plan, reread);
    if (!isGone)
        return Error{ErrorCode::UnknownOutcome,
                     sentence("release-unknown",
                              {lost.message, reread ? u"not every node replied"_s : reread.error().message})};
    ForceReleaseOutcome outcome;
    if (reread)
        outcome.after = *reread;
    outcome.released = *isGone;
    outcome.message = u"%1: the reply was lost, but the lock was re-read: %2"_s.arg(
        label(plan.before.lock.text()),
        outcome.released ? u"%1 no longer holds it; %2"_s.arg(label(plan.holder, 80), nowText(plan, outcome.after))
                         : holdsItText(plan));
    return outcome;
}

AuditRecord recordOf(const ForceReleasePlan &plan, const QString &reason, const LockSnapshot &before)
{
    AuditRecord record;
    record.action = actionOf(plan.way);
    record.lock = plan.before.lock.text();
    record.holder = plan.holder;
    record.reason = reason;
    record.node = plan.onNode ? plan.onNode->node : QString();
    record.before = inspect::toJson(before);
    return record;
}

// Reading again has time of its own: the deadline may have passed while the answer was out. Who was asked needs a
// moment to let go.
Task<Result<LockSnapshot>> readAfter(ForceReleasePlan plan, ForceReleaseTools tools, LockSnapshot fresh)
{
    constexpr std::chrono::seconds rereadWithin(5);
    constexpr std::chrono::seconds letsGoWithin(2);
    constexpr std::chrono::milliseconds lookEvery(100);
    const auto rereadBy = Deadline::after(*tools.loop, rereadWithin);
    const auto patience = Deadline::after(*tools.loop, letsGoWithin);
    const bool mayLetGo = plan.way == ReleaseAction::Revoke || plan.way == ReleaseAction::KillQuery;
    auto now = co_await tools.observer->readNow(plan.before.lock.name, rereadBy);
    while (mayLetGo && now && now->find(plan.holder) && !patience.hasPassed(*tools.loop)) {
        co_await sleepFor(*tools.loop, lookEvery);
        now = co_await tools.observer->readNow(plan.before.lock.name, rereadBy);
    }
    if (now && now->mayBeOld)
        co_return Error{ErrorCode::Refused, u"the server may have returned an old state; check again"_s, true};
    if (now)
        inspect::boundHolds(*now, fresh);
    co_return now;
}

// One request, or one node's of several.
Task<ReleaseAct> actOnce(ForceReleasePlan plan, ForceReleaseTools tools, QString reason, LockSnapshot fresh,
                         Deadline deadline)
{
    ActSteps<Sent, LockSnapshot> steps;
    steps.record = recordOf(plan, reason, fresh);
    steps.send = [plan, tools, deadline] { return tools.send(plan, deadline); };
    steps.readAgain = [plan, tools, fresh](const Result<Sent> &) { return readAfter(plan, tools, fresh); };
    steps.note = [plan](AuditRecord &record, const Result<Sent> &sent, const Result<LockSnapshot> &reread) {
        const auto note = plan.way == ReleaseAction::Release ? noteOutcome : noteAlternativeOutcome;
        note(record, plan, sent, reread);
        if (sent && !sent->left.isEmpty())
            record.outcome += clause(sent->left);
        if (reread)
            record.after = inspect::toJson(*reread);
    };
    return guardedAct(std::move(steps), tools.audit);
}

Result<ForceReleaseOutcome> outcomeOfAct(const ForceReleasePlan &plan, const ReleaseAct &act)
{
    const auto &sent = act.sent;
    if (!sent && sent.error().code != ErrorCode::UnknownOutcome)
        return sent.error();
    if (plan.way != ReleaseAction::Release)
        return outcomeOfAlternative(plan, act);
    auto outcome = sent ? Result<ForceReleaseOutcome>(outcomeOf(plan, act.reread, *sent))
                        : outcomeOfUnknown(plan, act.reread, sent.error());
    if (outcome)
        outcome->done = outcome->released;
    return outcome;
}

void addLeft(Result<ForceReleaseOutcome> &outcome, const ReleaseAct &act)
{
    if (outcome && act.sent && !act.sent->left.isEmpty())
        outcome->message += u". "_s + act.sent->left;
}

Result<ForceReleaseOutcome> reported(Result<ForceReleaseOutcome> outcome, const ReleaseAct &act)
{
    addLeft(outcome, act);
    if (outcome)
        outcome->isRecorded = bool(act.recorded);
    return withAudit(std::move(outcome), act.recorded);
}

// Step 6. Longer than this nobody is kept waiting, and the outcome says when to look.
Task<Result<ForceReleaseOutcome>> lookForReturn(ForceReleasePlan plan, ForceReleaseTools tools, QString reason,
                                                ForceReleaseOutcome outcome)
{
    const bool isKnown = plan.before.clientTraits.putsKeyBack;
    const std::chrono::seconds longestWait(isKnown ? 60 : 10);
    constexpr std::chrono::seconds renewalTakes(1);
    constexpr std::chrono::seconds rereadWithin(5);
    const auto within = *plan.backWithin + renewalTakes;
    if (within > longestWait) {
        outcome.message =
            sentence(isKnown ? "may-be-put-back" : "unknown-may-put-back", {outcome.message, formatDuration(within)});
        co_return outcome;
    }
    co_await sleepFor(*tools.loop, within);
    const auto by = Deadline::after(*tools.loop, rereadWithin);
    const auto now = co_await tools.observer->readNow(plan.before.lock.name, by);
    const bool isBack = now && (stillHolds(plan, *now) || isOfItsLease(plan, *now));
    if (!now && !isNoLock(now.error()))
        outcome.message += u". "_s + u"Could not check whether its client put it back: %1"_s.arg(now.error().message);
    if (!isBack)
        co_return outcome;
    outcome.released = outcome.done = false;
    outcome.after = *now;
    outcome.message =
        sentence(isKnown ? "was-put-back" : "unknown-put-back", {outcome.message, formatDuration(within)});
    auto record = recordOf(plan, reason, plan.before);
    record.phase = u"result"_s;
    record.outcome = u"back with the same token or lease after "_s + formatDuration(within);
    record.after = inspect::toJson(*now);
    const auto recorded = tools.audit->append(record);
    outcome.isRecorded = outcome.isRecorded && recorded;
    outcome.message += missingInAudit(recorded);
    co_return outcome;
}

// One node after the other; the last one's second look is at the whole set. Without a record of what was done on one
// nothing is sent to the next.
Task<Result<ForceReleaseOutcome>> actOnNodes(ForceReleasePlan plan, ForceReleaseTools tools, QString reason,
                                             LockSnapshot fresh, Deadline deadline)
{
    ReleaseAct last;
    qint64 told = 0;
    for (std::size_t i = 0; i < plan.shares.size(); ++i) {
        const auto onNode = planOfShare(plan, i);
        last = co_await actOnce(onNode, tools, reason, fresh, deadline);
        const bool isLast = i + 1 == plan.shares.size();
        if (last.sent && !last.recorded && !isLast)
            last.sent = Error{ErrorCode::Server, u"released"_s};
        if (!last.sent)
            co_return reported(stoppedAt(plan, i, last.sent.error()), last);
        told += last.sent->told;
    }
    last.sent = Sent{told, whereDone(plan)};
    co_return reported(outcomeOfAct(plan, last), last);
}

} // namespace

Task<Result<ForceReleaseOutcome>> forceRelease(ForceReleasePlan plan, ForceReleaseTools tools, QString reason,
                                               Deadline deadline)
{
    if (!plan.risk.isEmpty() && !plan.isRiskAccepted)
        co_return Error{ErrorCode::Refused,
                        u"%1: nothing was sent: %2"_s.arg(label(plan.before.lock.text()), plan.risk)};
    const auto fresh = co_await tools.observer->readNow(plan.before.lock.name, deadline);
    if (auto refusal = refusalAfterReading(plan, fresh))
        co_return *refusal;
    if (const auto *holder = fresh->find(plan.holder)) {
        plan.leaseEnds = leaseEndOf(*fresh, *holder);
        if (plan.backWithin)
            plan.backWithin = returnWithin(*fresh, *holder);
    }
    if (plan.shares.empty()) {
        const auto act = co_await actOnce(plan, tools, reason, *fresh, deadline);
        auto outcome = reported(outcomeOfAct(plan, act), act);
        if (!plan.backWithin || !outcome || !outcome->released)
            co_return outcome;
        outcome = co_await lookForReturn(plan, tools, reason, *outcome);
        co_return outcome;
    }
    const auto outcome = co_await actOnNodes(plan, tools, reason, *fresh, deadline);
    co_return outcome;
}

} // namespace lockscope::operate
