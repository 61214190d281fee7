// SPDX-License-Identifier: Apache-2.0
#include "core/operate/forcereleaseplan.h"

#include "core/operate/sql.h"
#include "core/inspect/waits/clients.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using recipes::recipeOf;

namespace {

// How other people's clients take it when a lock is taken away from them.

void planBlindDelete(ForceReleasePlan &plan, const Contender &holder, const QString &who)
{
    const auto at = holder.identity ? u" (%1)"_s.arg(label(*holder.identity, 80)) : QString();
    if (holder.expiresAt) {
        const auto left = formatDuration(*holder.expiresAt - plan.before.observed);
        plan.alternatives.prepend(sentence("blind-delete-wait", {left}));
    }
    plan.alternatives.prepend(sentence("blind-delete-first", {at}));
    addTexts(plan, "blind-delete", {who, at});
    plan.warnings << plan.risk;
}

// Sentences for the preview: when its holder notices; that its own release may delete the next holder's lock, with
// what is safer put before everything else. Nothing where its client is not known.
void planForClient(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &client = plan.before.client;
    const auto &traits = plan.before.clientTraits;
    if (client && traits.notices)
        plan.warnings << u"%1's holder notices %2"_s.arg(label(client->toUtf8(), 80),
                                                         QString::fromUtf16(traits.notices));
    if (traits.deletesBlindly)
        planBlindDelete(plan, holder, QString::fromUtf16(traits.deletesBlindly));
    else if (!recipes::recipeOf(plan.before.recipe).namesHolder)
        addTexts(plan, "may-delete-blindly");
}

QString lockText(const LockSnapshot &snapshot)
{
    return label(snapshot.lock.text());
}

QString nameOf(const Contender &contender)
{
    const auto id = label(contender.id, 80);
    return contender.endpoint ? u"%1 at %2"_s.arg(id, label(contender.endpoint->toUtf8())) : id;
}

Error refused(const QString &what, const QString &next)
{
    return Error{ErrorCode::Refused, u"%1. Nothing was sent. %2"_s.arg(what, next)};
}

QString idsOf(const std::vector<const Contender *> &contenders)
{
    const auto ids = mapped<QStringList>(contenders, [&](const auto *one) { return label(one->id, 80); });
    return ids.join(u", "_s);
}

// What the session has in the lock; what it holds, if it holds anything.
std::vector<const Contender *> ofSession(const LockSnapshot &snapshot, const QByteArray &session)
{
    std::vector<const Contender *> all;
    bool holds = false;
    for (const auto &contender : snapshot.contenders) {
        if (!contender.session || contender.session->toUtf8() != session)
            continue;
        all.push_back(&contender);
        holds = holds || contender.role == Role::Holder;
    }
    if (holds)
        std::erase_if(all, [](const auto *one) { return one->role != Role::Holder; });
    return all;
}

QString nothingToRelease(const LockSnapshot &snapshot)
{
    const auto elsewhere = inspect::firstAwaitsElsewhere(snapshot);
    return elsewhere ? sentence("first-is-foreign", {label(*elsewhere, 120)}) : u"There is nothing to release"_s;
}

// Empty when the contender holds. On a Redlock set a claim below the majority may be taken away, too: that is how
// what a dead client left behind goes.
std::optional<Error> refusalOf(const LockSnapshot &snapshot, const Contender &contender)
{
    if (recipeOf(snapshot.recipe).quorum || contender.role == Role::Holder)
        return std::nullopt;
    const auto holders = holdersOf(snapshot);
    if (holders.empty())
        return refused(u"no client holds %1"_s.arg(lockText(snapshot)), nothingToRelease(snapshot));
    return refused(u"\"%1\" waits for %2 and does not hold it"_s.arg(label(contender.id, 80), lockText(snapshot)),
                   u"It is held by "_s + idsOf(holders));
}

void planAlternative(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &snapshot = plan.before;
    const auto &recipe = recipeOf(snapshot.recipe);
    const auto then = plan.nextHolder ? u"then %1 gets the lock"_s.arg(label(*plan.nextHolder, 80))
                      : inspect::firstAwaitsElsewhere(snapshot) ? sentence("then-foreign")
                      : holdersOf(snapshot).size() > 1          ? u"the other holders keep it"_s
                      : snapshot.waiterCount() > 0              ? u"then one of the waiters gets it"_s
                      : snapshot.waitersKnown                   ? u"then the lock is free"_s
                                                                : sentence("then-unseen");
    if (holder.expiresAt) {
        const auto left = formatDuration(*holder.expiresAt - snapshot.observed);
        plan.alternatives << (recipe.endsBy == recipes::EndsBy::Session
                                  ? u"its session ends by itself in %1 unless the client reconnects"_s
                                  : u"its TTL expires in %1 unless the holder renews it"_s)
                                     .arg(left)
                                 + clause(then);
    }
    for (const auto &offer : waysFor(snapshot, holder)) {
        if (offer.way < ReleaseAction::Release)
            plan.alternatives << offer.what;
    }
    auto byClient = holder.endpoint
                        ? u"have the client at %1 release it, or stop it"_s.arg(label(holder.endpoint->toUtf8()))
                        : u"have the client that holds it release it, or stop it"_s;
    if (holder.guard.znode().owner != 0 && recipe.endsBy == recipes::EndsBy::Session)
        byClient = sentence("killed-client-times-out", {byClient});
    plan.alternatives << byClient;
}

// Of a client that may go on, although it is released and connected.
QString staleHolderText(const Contender &holder, bool getsToken)
{
    const auto czxid = holder.guard.znode().czxid;
    return sentence(getsToken    ? "stale-with-token"
                    : czxid == 0 ? "stale-without-token"
                                 : "stale-with-czxid",
                    {nameOf(holder), QString::number(czxid, 16)});
}

void planWarnings(ForceReleasePlan &plan, const Contender &holder, const ReleaseMethod &method)
{
    const auto &snapshot = plan.before;
    const auto &recipe = recipeOf(snapshot.recipe);
    const bool hasSession = !method.endsConnection || holder.session; // a prepared transaction has none
    if (!hasSession)
        plan.warnings.prepend(sentence("no-session-of-holder", {nameOf(holder)}));
    else
        plan.staleHolder = method.endsConnection ? sentence("stale-connection", {nameOf(holder)})
                                                 : staleHolderText(holder, recipe.tellsClientsTokens);
    if (recipe.electsLeader)
        addTexts(plan, "election");
    if (!holder.expiresAt && recipe.endsBy != recipes::EndsBy::Session)
        addTexts(plan, "waiting-is-useless");
    if (holder.reentry > 1)
        addTexts(plan, "reentrant-release", {QString::number(holder.reentry)});
    if (snapshot.holderCount() > 1)
        addTexts(plan, "one-of-holders", {QString::number(snapshot.holderCount())});
    warnOfConfidence(plan);
    if (!snapshot.waitersKnown)
        addTexts(plan, method.endsConnection ? "next-unknown-of-server" : "next-unknown");
}

} // namespace

std::vector<const Contender *> holdersOf(const LockSnapshot &snapshot)
{
    std::vector<const Contender *> holders;
    for (const auto &contender : snapshot.contenders) {
        if (contender.role == Role::Holder)
            holders.push_back(&contender);
    }
    return holders;
}

Result<const Contender *> meant(const LockSnapshot &snapshot, const QByteArray &holder)
{
    const auto lock = lockText(snapshot);
    const auto said = label(holder, 80);
    if (const auto *exact = snapshot.find(holder))
        return exact;
    static const QByteArray bySession = "session:";
    if (holder.startsWith(bySession + "0x")) {
        const auto found = ofSession(snapshot, holder.mid(bySession.size()));
        if (found.size() == 1)
            return found.front();
        if (found.size() > 1)
            return refused(u"\"%1\" has %2 nodes in %3"_s.arg(said, QString::number(found.size()), lock),
                           u"Give one of these IDs: %1"_s.arg(idsOf(found)));
    }
    std::vector<const Contender *> fuller;
    for (const auto &contender : snapshot.contenders) {
        if (recipes::isFullFormOf(contender.id, holder))
            fuller.push_back(&contender);
    }
    if (!fuller.empty())
        return refused(sentence("ambiguous-id", {said, lock}),
                       u"Check the current entry, then give its full ID: %1"_s.arg(idsOf(fuller)));
    const auto holders = holdersOf(snapshot);
    if (holders.empty())
        return refused(u"no client holds %1"_s.arg(lock), nothingToRelease(snapshot));
    return refused(u"\"%1\" does not hold %2 (any more, or never did)"_s.arg(said, lock),
                   u"It is held by "_s + idsOf(holders));
}

Result<ForceReleasePlan> planForceRelease(const LockSnapshot &snapshot, const QByteArray &holder)
{
    TRY(const auto &who, meant(snapshot, holder));
    const auto &contender = *who;
    if (auto refusal = refusalOf(snapshot, contender))
        return *refusal;
    const auto known = releaseWay(snapshot);
    if (const auto byHand = ownFreeing(snapshot, contender); !known && !byHand.isEmpty())
        return Error{known.error().code, known.error().message + u"; "_s + byHand};
    TRY(const auto &way, known);
    if (!snapshot.nodes.empty() && !recipeOf(snapshot.recipe).quorum && sharesOf(snapshot, contender).empty())
        return refused(u"cannot determine which nodes of the set store \"%1\" for %2"_s.arg(label(contender.id, 80),
                                                                                            lockText(snapshot)),
                       u"Connect to each node separately"_s);
    const auto &method = methodOf(way);
    if (way == ReleaseMechanism::ClearRow || way == ReleaseMechanism::ClearPgRow) {
        if (!method.isIdentified(contender))
            return refused(sentence("row-unidentified", {lockText(snapshot)}),
                           u"Make sure that no client runs, then free the row with its own tool"_s);
    }
    if (method.isIdentified ? !method.isIdentified(contender) : contender.guard.text().isEmpty())
        return refused(
            u"the identity of \"%1\" in %2 could not be read"_s.arg(label(contender.id, 80), lockText(snapshot)),
            u"Check your permissions on its %1"_s.arg(infoOf(snapshot.backend).words.entry));

    ForceReleasePlan plan;
    plan.before = snapshot;
    plan.holder = contender.id;
    plan.guard = contender.guard;
    if (const auto *next = snapshot.nextAfter(contender.id); next && inspect::isFirstInLine(snapshot, *next))
        plan.nextHolder = next->id;
    if (sharesOf(snapshot, contender).empty())
        method.plan(plan, contender);
    else
        planShares(plan, contender, method);
    plan.wakes = method.wakes(snapshot, contender);
    if (contender.mode == inspect::Mode::Read && snapshot.holderCount() > 1
        && recipes::recipeOf(snapshot.recipe).wakeUp == recipes::WakeUp::Answer) {
        plan.wakes = plan.who = u"no client: the other holders keep the lock"_s;
    }
    planAlternative(plan, contender);
    planWarnings(plan, contender, method);
    planForClient(plan, contender);
    plan.ways = waysFor(snapshot, contender);
    return plan;
}

using inspect::FindingCode;

namespace {

BulkTarget targetOfBulk(const LockSnapshot &lock, const Contender &one, ReleaseAction way)
{
    BulkTarget target;
    target.lock = lock.lock;
    target.contender = one.id;
    target.way = way;
    QStringList who; // what it is called, where it is called something, and where it is
    if (const auto self = inspect::nameBeside(one, lock.backend))
        who << inspect::nameLabel(*self);
    if (one.endpoint)
        who << label(one.endpoint->toUtf8(), 80);
    else if (one.identity)
        who << inspect::nameLabel(*one.identity);
    target.who = who.join(u" · "_s);
    target.since = one.role == Role::Holder ? one.heldSince : one.waitingSince;
    target.hold = one.hold;
    target.shown = lock.observed;
    target.serverAhead = lock.serverAhead;
    return target;
}

constexpr std::chrono::seconds eachWithin(15);

// What the same act would end that nobody chose; empty: nothing.
QString unchosen(const BulkTarget &target, const ForceReleasePlan &plan)
{
    QStringList names;
    for (const auto &name : plan.otherLocksLost) {
        const bool isChosen =
            name == plan.before.lock.name || std::ranges::count(target.goWithIt, name, &inspect::LockName::name) > 0;
        if (!isChosen)
            names << label(name, 80);
    }
    return firstNamed(names, 5);
}

// Empty: it was done. Else why it was not, or what else is not as expected.
Task<QString> releaseOne(BulkTarget target, BulkTools tools, QString reason)
{
    const auto deadline = Deadline::after(*tools.loop, eachWithin);
    auto plan = co_await tools.plan(target, deadline);
    if (!plan)
        co_return plan.error().message;
    if (!plan->before.clientTraits.putsKeyBack)
        plan->backWithin.reset(); // the next ones would expire while it is looked whether this one comes back
    if (plan->holder != target.contender)
        co_return u"nothing was sent: the new plan is for %1"_s.arg(label(plan->holder, 80));
    if (!plan->risk.isEmpty())
        co_return u"nothing was sent: %1. Check and release this lock separately"_s.arg(plan->risk);
    if (const auto others = unchosen(target, *plan); !others.isEmpty())
        co_return u"nothing was sent: it also holds %1. Check and release this lock separately"_s.arg(others);
    const auto *now = plan->before.find(plan->holder);
    if (target.isStale && !(now && isLeftBehind(plan->before, *now)))
        co_return u"nothing was sent: it is no longer a leftover entry"_s;
    if (now && (holdsAnew(plan->before, *now, target.shown) || inspect::isDifferentHold(target.hold, now->hold)))
        co_return u"nothing was sent: its client released it and acquired it again"_s;
    const auto outcome = co_await tools.act(*plan, reason, deadline);
    if (!outcome)
        co_return outcome.error().message;
    const bool isDone = target.way == ReleaseAction::Release ? outcome->released : outcome->done;
    // What cannot be recorded ends it here, as it would have ended the next one.
    co_return isDone && outcome->isRecorded ? QString() : outcome->message;
}

} // namespace

bool isLeftBehind(const LockSnapshot &lock, const Contender &one)
{
    if (one.guard.znode().owner != 0)
        return false;
    return std::ranges::any_of(lock.findings, [&](const auto &finding) {
        const bool isNamed = finding.code == FindingCode::PersistentNode || finding.code == FindingCode::StaleQueue;
        return isNamed && std::ranges::count(finding.contenders, one.id) > 0;
    });
}

std::vector<BulkTarget> targetsOf(const std::vector<const LockSnapshot *> &locks,
                                  const std::function<bool(const LockSnapshot &, const Contender &)> &picks)
{
    std::vector<BulkTarget> targets;
    std::map<std::pair<ConnectionName, QString>, std::size_t> killed; // the target that ends that connection
    for (const auto *lock : locks) {
        const auto way = releaseWay(*lock);
        if (!way || lock->confidence == inspect::Confidence::Low || recipes::recipeOf(lock->recipe).electsLeader)
            continue;
        for (const auto &contender : lock->contenders) {
            if (contender.role != Role::Holder || !picks(*lock, contender))
                continue;
            if (methodOf(*way).endsConnection && contender.session) {
                const auto [at, isNew] =
                    killed.emplace(std::pair(lock->lock.connection, *contender.session), targets.size());
                if (!isNew) {
                    targets[at->second].goWithIt.push_back(lock->lock);
                    continue;
                }
            }
            targets.push_back(targetOfBulk(*lock, contender, ReleaseAction::Release));
        }
    }
    return targets;
}

std::vector<BulkTarget> targetsOfSession(const std::vector<const LockSnapshot *> &locks,
                                         const ConnectionName &connection, const QString &session)
{
    return targetsOf(locks, [&](const LockSnapshot &lock, const Contender &one) {
        return lock.lock.connection == connection && one.session == session;
    });
}

std::vector<BulkTarget> staleEntriesOf(const std::vector<const LockSnapshot *> &locks)
{
    std::vector<BulkTarget> targets;
    for (const auto *lock : locks) {
        if (lock->confidence == inspect::Confidence::Low)
            continue;
        for (const auto &contender : lock->contenders) {
            if (contender.role != Role::Waiter || !isLeftBehind(*lock, contender))
                continue;
            const auto ways = waysFor(*lock, contender);
            if (std::ranges::find(ways, ReleaseAction::KillWaiter, &OfferedAction::way) != ways.end())
                targets.push_back(targetOfBulk(*lock, contender, ReleaseAction::KillWaiter));
        }
    }
    // Last: to release a holder makes the dead waiter behind it the holder, which no way for waiters fits.
    for (auto &target : targetsOf(locks, isLeftBehind))
        targets.push_back(std::move(target));
    for (auto &target : targets)
        target.isStale = true;
    return targets;
}

Task<Result<BulkReport>> bulkRelease(std::vector<BulkTarget> targets, BulkTools tools, QString reason)
{
    BulkReport report;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        auto one = releaseOne(targets[i], tools, reason);
        const auto why = co_await one;
        if (!why.isEmpty()) {
            report.stoppedAt = targets[i];
            report.why = why;
            report.left.assign(targets.begin() + static_cast<std::ptrdiff_t>(i) + 1, targets.end());
            break;
        }
        report.done.push_back(targets[i]);
        if (tools.progressed)
            tools.progressed(static_cast<int>(report.done.size()));
    }
    co_return report;
}

} // namespace lockscope::operate
