// SPDX-License-Identifier: Apache-2.0
#include "core/operate/etcdrelease.h"

#include "core/base/text.h"
#include "core/inspect/snapshot.h"
#include "core/operate/etcdlease.h"
#include "core/operate/releasemethod.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using etcd::Operation;
using inspect::Contender;
using inspect::LockSnapshot;

namespace {

bool hasKey(const Contender &one)
{
    return !one.guard.value.isEmpty() && one.guard.czxid > 0; // its lease may be lost
}

QString leaseWords(const Contender &one)
{
    return QString::fromLatin1(etcd::leaseText(static_cast<etcd::LeaseId>(one.guard.owner)));
}

QString conditionOf(const Contender &one)
{
    return u"create_revision(%1) = %2"_s.arg(escaped(one.guard.value), QString::number(one.guard.czxid));
}

// Whom all others wait for.
const Contender *firstOf(const LockSnapshot &snapshot)
{
    const bool isHeld = !snapshot.contenders.empty() && snapshot.contenders.front().role == inspect::Role::Holder;
    return isHeld && hasKey(snapshot.contenders.front()) ? &snapshot.contenders.front() : nullptr;
}

void planDeleteKey(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(holder.guard.value);
    plan.commands << u"txn: if %1 then delete %2"_s.arg(conditionOf(holder), key);
    plan.guardText =
        u"the key must still be the one created at revision %1; compared and deleted in one transaction"_s.arg(
            holder.guard.czxid);
    plan.warnings
        << (holder.guard.owner == 0
                ? u"its key has no lease: whether its client still runs cannot be seen. Stop the client first"_s
                : u"its lease %1 stays, with whatever else hangs on it: only who watches its own key learns "
                  u"that it is gone, and etcd's Go client does not"_s.arg(leaseWords(holder)));
}

QString wokenByDeletion(const LockSnapshot &snapshot, const Contender &holder)
{
    const auto elsewhere = inspect::firstAwaitsElsewhere(snapshot);
    auto woken = snapshot.waiterCount() == 0 ? u"nobody waits"_s
                 : elsewhere
                     ? u"no client of this lock: the first in the queue waits for %1"_s.arg(label(*elsewhere, 80))
                     : u"the next in the queue, by the deletion; nothing else to publish"_s;
    for (const auto &finding : inspect::wakesBeside(snapshot, holder.id))
        woken += u"; "_s + finding;
    return woken;
}

bool canLeaveEtcdQueue(const LockSnapshot &snapshot, const Contender &waiter)
{
    return hasKey(waiter) && firstOf(snapshot);
}

QString whatLeaveEtcdQueue(const LockSnapshot &, const Contender &waiter)
{
    return u"take the waiter %1 out of the queue: its key is deleted"_s.arg(label(waiter.id, 80));
}

void planLeaveEtcdQueue(ForceReleasePlan &plan, const Contender &waiter)
{
    plan.act = u"Delete the waiter's key"_s;
    plan.commands << u"txn: if %1 and %2 then delete %3"_s.arg(
        conditionOf(waiter), conditionOf(*firstOf(plan.before)), escaped(waiter.guard.value));
    plan.guardText = u"its key must be the one of that revision, and the holder's still there: so it waits; compared "
                     u"and deleted in one transaction"_s;
    plan.wakes = u"who watches its key, which is the one behind it; it looks, and waits on"_s;
    plan.who = u"nobody: the lock stays where it is"_s;
    plan.alsoLost =
        waiter.guard.owner == 0 ? u"its place"_s : u"its place; its lease stays, with whatever else hangs on it"_s;
    plan.warnings
        << u"its client is not told: etcd's Go client fails when its turn would have come (session expired)"_s;
}

Task<Result<Sent>> deleteKey(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    etcd::Transaction transaction;
    transaction.conditions.push_back({plan.guard.value, plan.guard.czxid});
    if (const auto *first = firstOf(plan.before); first && plan.way == Way::KillWaiter)
        transaction.conditions.push_back({first->guard.value, first->guard.czxid});
    else if (plan.way == Way::KillWaiter)
        co_return changedMeanwhile(plan, u"who holds the lock is not known"_s);
    Operation remove;
    remove.kind = Operation::Kind::Remove;
    remove.range.key = plan.guard.value;
    transaction.then.push_back(remove);
    Operation look;
    look.range.key = plan.guard.value;
    look.range.keysOnly = true;
    transaction.otherwise.push_back(look);
    auto acting = client->commit(transaction, deadline);
    const auto done = co_await acting;
    if (!done)
        co_return done.error();
    if (done->held)
        co_return Sent();
    co_return refusedBy(plan, *done);
}

} // namespace

std::vector<ReleaseMethod> releaseMethodsOfEtcd()
{
    return {{ReleaseWay::DeleteAtRevision, &planDeleteKey, &wokenByDeletion, &hasKey}};
}

std::vector<GentlerMethod> gentlerMethodsOfEtcd()
{
    return {{Way::KillWaiter, &canLeaveEtcdQueue, &whatLeaveEtcdQueue, &planLeaveEtcdQueue}, endLeaseMethod()};
}

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    if (plan.way == Way::KillWaiter)
        return deleteKey(std::move(plan), client, deadline);
    if (plan.way == Way::EndLease)
        return endLease(std::move(plan), client, deadline);
    const auto way = plan.way == Way::Release ? releaseWay(plan.before) : Result<ReleaseWay>(ReleaseWay::None);
    return way && *way == ReleaseWay::DeleteAtRevision ? deleteKey(std::move(plan), client, deadline)
                                                       : nothingSent(std::move(plan));
}

} // namespace lockscope::operate
