// SPDX-License-Identifier: Apache-2.0
#include "core/operate/releasemethod.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;

namespace {

struct ActionWord {
    ReleaseAction way;
    const char *word;
};
constexpr std::array actionWords{
    ActionWord{ReleaseAction::Revoke, "revoke"},          ActionWord{ReleaseAction::ShortenTtl, "shorten-ttl"},
    ActionWord{ReleaseAction::KillWaiter, "kill-waiter"}, ActionWord{ReleaseAction::KillQuery, "kill-query"},
    ActionWord{ReleaseAction::Release, "release"},        ActionWord{ReleaseAction::EndLease, "end-lease"}};

QString namesOf(const std::vector<const Contender *> &contenders)
{
    return firstNamed(mapped<QStringList>(contenders, [](const auto *one) { return label(one->id, 80); }), 5);
}

const std::vector<AlternativeMethod> &alternativeMethods(BackendKind backend)
{
    static const auto all = [] {
        std::vector<std::vector<AlternativeMethod>> methods;
#define LOCKSCOPE_GENTLER(Name) methods.push_back(alternativeMethodsOf##Name());
        LOCKSCOPE_BACKENDS(LOCKSCOPE_GENTLER)
#undef LOCKSCOPE_GENTLER
        return methods;
    }();
    return all[static_cast<std::size_t>(backend)];
}

bool isFor(const AlternativeMethod &method, const LockSnapshot &snapshot, const Contender &contender)
{
    const auto wanted = method.way == ReleaseAction::KillWaiter ? Role::Waiter : Role::Holder;
    return contender.role == wanted && snapshot.nodes.empty() && method.fits(snapshot, contender);
}

QString wordsOf(const std::vector<OfferedAction> &ways)
{
    const auto words =
        mapped<QStringList>(ways, [&](const auto &offer) { return QString::fromLatin1(wordOf(offer.way)); });
    return words.isEmpty() ? u"none"_s : words.join(u", "_s);
}

Error refusedAction(const LockSnapshot &snapshot, const Contender &contender, ReleaseAction way)
{
    const auto who = label(contender.id, 80);
    const auto lock = label(snapshot.lock.text());
    const bool isForWaiters = way == ReleaseAction::KillWaiter;
    if (isForWaiters == (contender.role == Role::Holder))
        return Error{ErrorCode::Refused,
                     isForWaiters ? sentence("kill-waiter-of-holder", {who, lock})
                                  : u"nothing was sent: \"%1\" waits for %2 and does not hold it"_s.arg(who, lock)};
    return Error{ErrorCode::Unsupported,
                 sentence("action-unavailable", {QString::fromLatin1(wordOf(way)), who, lock, label(snapshot.recipe),
                                                 wordsOf(waysFor(snapshot, contender))})};
}

QString doneWord(ReleaseAction way)
{
    switch (way) {
    case ReleaseAction::Revoke: return u"asked"_s;
    case ReleaseAction::ShortenTtl: return u"shortened"_s;
    case ReleaseAction::KillWaiter: return u"removed"_s;
    case ReleaseAction::KillQuery: return u"ended"_s;
    case ReleaseAction::EndLease: return u"lease ended"_s;
    case ReleaseAction::Release: break;
    }
    return u"released"_s;
}

QString whatWasDone(const ForceReleasePlan &plan)
{
    const auto who = label(plan.holder, 80);
    const auto lock = label(plan.before.lock.text());
    switch (plan.way) {
    case ReleaseAction::Revoke: return u"%1: %2 was asked to release the lock"_s.arg(lock, who);
    case ReleaseAction::ShortenTtl:
        return u"%1: the lease of %2 ends in %3 s at the latest unless it renews it"_s.arg(
            lock, who, QString::number(shortenedTo.count() / 1000));
    case ReleaseAction::KillWaiter: return u"%1: %2 was removed from the waiters"_s.arg(lock, who);
    case ReleaseAction::KillQuery: return u"%1: the running statement of %2 was ended"_s.arg(lock, who);
    case ReleaseAction::EndLease: return u"%1: released from %2, and its lease was ended"_s.arg(lock, who);
    case ReleaseAction::Release: break;
    }
    return lock;
}

// The holder is the same by its id; what it did since with its data is its own.
bool isStillThere(const ForceReleasePlan &plan, const Result<LockSnapshot> &now)
{
    return now && now->find(plan.holder);
}

QString whatIsNow(const ForceReleasePlan &plan, const Result<LockSnapshot> &now)
{
    if (!now && !isNoLock(now.error()))
        return u"could not re-read the lock: %1"_s.arg(now.error().message);
    const bool isThere = isStillThere(plan, now);
    if (plan.way == ReleaseAction::KillWaiter)
        return isThere ? u"but it still waits, or waits again"_s : u"it no longer waits"_s;
    if (isThere)
        return plan.way == ReleaseAction::Revoke ? u"it still holds the lock; the release is up to its client"_s
                                                 : u"it still holds the lock"_s;
    const bool isUnseen = !now && recipes::recipeOf(plan.before.recipe).seenContended;
    return isUnseen ? notShownNow(plan) : u"it no longer holds the lock"_s;
}

} // namespace

QByteArray wordOf(ReleaseAction way)
{
    return std::ranges::find(actionWords, way, &ActionWord::way)->word;
}

QString grantedIfWaiterRemoved(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto in = snapshot.waitersGrantedWithout(waiter.id);
    return in.empty() ? u"no new holder; the lock stays with its current holder"_s
                      : sentence("readers-unblocked", {namesOf(in)});
}

QString wokenWithout(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto in = snapshot.waitersGrantedWithout(waiter.id);
    return in.empty() ? u"no client"_s
                      : u"the readers right behind it (the server wakes them): %1"_s.arg(namesOf(in));
}

std::optional<ReleaseAction> wayNamed(const QString &word)
{
    const auto at =
        std::ranges::find_if(actionWords, [&](const auto &one) { return word == QLatin1String(one.word); });
    return at == actionWords.end() ? std::nullopt : std::optional(at->way);
}

QString actionOf(ReleaseAction way)
{
    return way == ReleaseAction::Release ? u"force-release"_s : QString::fromLatin1(wordOf(way));
}

std::vector<OfferedAction> waysFor(const LockSnapshot &snapshot, const Contender &contender)
{
    std::vector<OfferedAction> ways;
    for (const auto &method : alternativeMethods(snapshot.backend)) {
        if (isFor(method, snapshot, contender))
            ways.push_back({method.way, contender.id, method.what(snapshot, contender)});
    }
    if (contender.role == Role::Holder && releaseWay(snapshot))
        ways.push_back({ReleaseAction::Release, contender.id, u"take the lock from its holder"_s});
    std::ranges::stable_sort(ways, {}, &OfferedAction::way);
    return ways;
}

Result<ForceReleasePlan> planWay(const LockSnapshot &snapshot, const QByteArray &contender, ReleaseAction way)
{
    if (way == ReleaseAction::Release)
        return planForceRelease(snapshot, contender);
    TRY(const auto &who, meant(snapshot, contender));
    const auto &one = *who;
    const auto &methods = alternativeMethods(snapshot.backend);
    const auto method = std::ranges::find(methods, way, &AlternativeMethod::way);
    if (method == methods.end() || !isFor(*method, snapshot, one))
        return refusedAction(snapshot, one, way);
    ForceReleasePlan plan;
    plan.way = way;
    plan.before = snapshot;
    plan.holder = one.id;
    plan.guard = one.guard;
    if (const auto *next = one.role == Role::Holder ? snapshot.nextAfter(one.id) : nullptr;
        next && inspect::isFirstInLine(snapshot, *next))
        plan.nextHolder = next->id;
    method->plan(plan, one);
    plan.ways = waysFor(snapshot, one);
    warnOfConfidence(plan);
    return plan;
}

void noteAlternativeOutcome(AuditRecord &record, const ForceReleasePlan &plan, const Result<Sent> &sent,
                            const Result<LockSnapshot> &now)
{
    if (sent)
        record.outcome = doneWord(plan.way);
    record.isDone = bool(sent);
    const bool isLost = !sent && sent.error().code == ErrorCode::UnknownOutcome;
    const bool tells = plan.way == ReleaseAction::KillWaiter || plan.way == ReleaseAction::EndLease;
    const bool isUnseen = !now && (!isNoLock(now.error()) || recipes::recipeOf(plan.before.recipe).seenContended);
    if (!isLost || !tells || isUnseen)
        return;
    const bool isGone = !isStillThere(plan, now);
    record.outcome = (isGone ? u"reply lost; found removed: %1"_s : u"reply lost; found still there: %1"_s)
                         .arg(sent.error().message);
    // Whether the lease ended with its key is not seen.
    record.isDone = isGone && plan.way == ReleaseAction::KillWaiter;
}

Result<ForceReleaseOutcome> outcomeOfAlternative(const ForceReleasePlan &plan, const ReleaseAct &act)
{
    const auto &now = act.reread;
    if (!act.sent)
        return Error{ErrorCode::UnknownOutcome,
                     sentence("action-unknown",
                              {label(plan.before.lock.text()), act.sent.error().message, whatIsNow(plan, now)})};
    ForceReleaseOutcome outcome;
    outcome.done = true;
    outcome.released = plan.way != ReleaseAction::KillWaiter && !isStillThere(plan, now)
                       && (now || isNoLock(now.error()))
                       && (now || !recipes::recipeOf(plan.before.recipe).seenContended);
    if (now)
        outcome.after = *now;
    outcome.message = u"%1; %2"_s.arg(whatWasDone(plan), whatIsNow(plan, now));
    return outcome;
}

} // namespace lockscope::operate
