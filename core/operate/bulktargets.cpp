// SPDX-License-Identifier: Apache-2.0
#include "core/operate/bulktargets.h"

#include "core/base/text.h"
#include "core/inspect/findings.h"
#include "core/inspect/waits/clients.h"
#include "core/operate/forcerelease.h"
#include "core/operate/precheck.h"
#include "core/operate/releasemethod.h"
#include "core/rules/catalogue.h"

#include <algorithm>
#include <map>

namespace lockscope::operate {

using inspect::Contender;
using inspect::FindingCode;
using inspect::LockSnapshot;
using inspect::Role;

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
