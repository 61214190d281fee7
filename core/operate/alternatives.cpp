// SPDX-License-Identifier: Apache-2.0
#include "core/operate/alternatives.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"
#include "core/operate/releasemethod.h"
#include "core/rules/catalogue.h"

#include <algorithm>
#include <array>

namespace lockscope::operate {

using namespace Qt::StringLiterals;
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
    constexpr std::size_t most = 5;
    QStringList names;
    for (std::size_t i = 0; i < std::min(most, contenders.size()); ++i)
        names << label(contenders[i]->id, 80);
    const auto more = contenders.size() - std::size_t(names.size());
    return names.join(u", "_s) + (more > 0 ? u" and %1 more"_s.arg(more) : QString());
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
    QStringList words;
    for (const auto &offer : ways)
        words << QString::fromLatin1(wordOf(offer.way));
    return words.isEmpty() ? u"none"_s : words.join(u", "_s);
}

Error refusedAction(const LockSnapshot &snapshot, const Contender &contender, ReleaseAction way)
{
    const auto who = label(contender.id, 80);
    const auto lock = label(snapshot.lock.text());
    const bool isForWaiters = way == ReleaseAction::KillWaiter;
    if (isForWaiters == (contender.role == Role::Holder))
        return Error{ErrorCode::Refused,
                     isForWaiters ? u"\"%1\" holds %2, and kill-waiter is for one that waits; nothing was sent"_s.arg(
                         who, lock)
                                  : u"\"%1\" waits for %2 and does not hold it; nothing was sent"_s.arg(who, lock)};
    return Error{ErrorCode::Unsupported, u"%1 is no way for \"%2\" in %3 (%4); nothing was sent; there is: %5"_s.arg(
                                             QString::fromLatin1(wordOf(way)), who, lock, label(snapshot.recipe),
                                             wordsOf(waysFor(snapshot, contender)))};
}

} // namespace

QByteArray wordOf(ReleaseAction way)
{
    return std::ranges::find(actionWords, way, &ActionWord::way)->word;
}

QString grantedIfWaiterRemoved(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto in = snapshot.waitersGrantedWithout(waiter.id);
    return in.empty() ? u"nobody: the lock stays where it is"_s
                      : u"beside those that share it now, the readers that it kept out: "_s + namesOf(in);
}

QString wokenWithout(const LockSnapshot &snapshot, const Contender &waiter)
{
    const auto in = snapshot.waitersGrantedWithout(waiter.id);
    return in.empty() ? u"nobody"_s : u"the readers right behind it, by the server: "_s + namesOf(in);
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
    if (const auto *next = one.role == Role::Holder ? snapshot.nextAfter(one.id) : nullptr)
        plan.nextHolder = next->id;
    method->plan(plan, one);
    plan.ways = waysFor(snapshot, one);
    if (snapshot.confidence == inspect::Confidence::Low)
        plan.warnings << u"that this is a lock is a guess (%1): look at the raw %2 first"_s.arg(
            snapshot.why, infoOf(snapshot.backend).words.entry);
    return plan;
}

namespace {

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
    case ReleaseAction::Revoke: return u"%1: %2 was asked to let go"_s.arg(lock, who);
    case ReleaseAction::ShortenTtl:
        return u"%1: the lease of %2 ends in %3 s at the latest unless it renews it"_s.arg(
            lock, who, QString::number(shortenedTo.count() / 1000));
    case ReleaseAction::KillWaiter: return u"%1: %2 was taken out of those who wait"_s.arg(lock, who);
    case ReleaseAction::KillQuery: return u"%1: the running statement of %2 was ended"_s.arg(lock, who);
    case ReleaseAction::EndLease: return u"%1: taken from %2, and its lease ended"_s.arg(lock, who);
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
        return u"it could not be read again: %1"_s.arg(now.error().message);
    const bool isThere = isStillThere(plan, now);
    if (plan.way == ReleaseAction::KillWaiter)
        return isThere ? u"yet it waits still, or again"_s : u"it does not wait any more"_s;
    if (isThere)
        return plan.way == ReleaseAction::Revoke ? u"it holds it still: whether and when it lets go is up to it"_s
                                                 : u"it holds it still"_s;
    const bool isUnseen = !now && recipes::recipeOf(plan.before.recipe).seenContended;
    return isUnseen ? notShownNow(plan) : u"it does not hold it any more"_s;
}

} // namespace

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
    record.outcome =
        (isGone ? u"answer lost; seen gone: "_s : u"answer lost; seen still there: "_s) + sent.error().message;
    // Whether the lease ended with its key is not seen.
    record.isDone = isGone && plan.way == ReleaseAction::KillWaiter;
}

Result<ForceReleaseOutcome> outcomeOfAlternative(const ForceReleasePlan &plan, const ReleaseAct &act)
{
    const auto &now = act.reread;
    if (!act.sent)
        return Error{ErrorCode::UnknownOutcome,
                     u"%1: the command was sent and its answer lost (%2); now: %3"_s.arg(
                         label(plan.before.lock.text()), act.sent.error().message, whatIsNow(plan, now))};
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
