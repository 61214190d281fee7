// SPDX-License-Identifier: Apache-2.0
#include "core/operate/etcdlease.h"

#include "core/base/text.h"
#include "core/inspect/etcd/sweep.h"
#include "core/operate/lastlook.h"
#include "core/operate/releaseact.h"

#include <algorithm>

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;

namespace {

constexpr std::size_t mostLocksAsked = 32;
constexpr qsizetype mostKeysSpoken = 20;

etcd::LeaseId leaseOf(const ForceReleasePlan &plan)
{
    return static_cast<etcd::LeaseId>(plan.guard.owner);
}

QString leaseName(const Contender &holder)
{
    return QString::fromLatin1(etcd::leaseText(static_cast<etcd::LeaseId>(holder.guard.owner)));
}

bool canEndLease(const LockSnapshot &, const Contender &holder)
{
    return !holder.guard.value.isEmpty() && holder.guard.czxid > 0 && holder.guard.owner != 0;
}

QString whatEndLease(const LockSnapshot &, const Contender &holder)
{
    return u"end its lease %1: every key that hangs on it is deleted with it"_s.arg(leaseName(holder));
}

void planEndLease(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(holder.guard.value);
    const auto lease = leaseName(holder);
    plan.act = u"End the lease %1"_s.arg(lease);
    plan.commands << u"txn: if create_revision(%1) = %2 and lease(%1) = %3 then delete %1"_s.arg(
        key, QString::number(holder.guard.czxid), lease)
                  << u"lease revoke %1, if that was done"_s.arg(lease);
    plan.guardText =
        u"the key must still be the one created at revision %1, with this lease: compared and deleted in one "
        u"transaction, and only then the lease ends; right before, no key may hang on it that is not named here"_s
            .arg(holder.guard.czxid);
    plan.exact = false;
    plan.wakes = plan.before.waiterCount() == 0
                     ? u"nobody waits"_s
                     : u"the next in the queue, by the deletion; nothing else to publish"_s;
    plan.who = plan.nextHolder ? label(*plan.nextHolder, 80) : u"nobody: then the lock is free"_s;
    plan.alsoLost = u"not known: whatever else hangs on the lease"_s;
    plan.otherLocksKnown = false;
    plan.warnings
        << u"etcd ends no lease on a condition: a key that its client puts on it in the moment between the last look "
           u"and the end is deleted, too"_s
        << u"the old holder may still believe it holds the lock until its next keep-alive fails: etcd's Go client and "
           u"etcdctl send one each third of the TTL, and a program hears of it only by Session.Done()"_s;
}

// Those that hang on it beside the contender's own.
std::vector<QByteArray> othersOf(const ForceReleasePlan &plan)
{
    auto others = plan.leaseKeys.value_or(std::vector<QByteArray>());
    std::erase(others, plan.guard.value);
    return others;
}

QString namesOf(const std::vector<QByteArray> &keys)
{
    QStringList names;
    for (const auto &key : keys) {
        if (names.size() < mostKeysSpoken)
            names << label(key, 200);
    }
    const auto more = static_cast<qsizetype>(keys.size()) - names.size();
    return names.join(u", "_s) + (more > 0 ? u" and %1 more"_s.arg(more) : QString());
}

// The locks that this lease holds beside. Where it only waits it loses its place.
Task<void> addOtherLocks(ForceReleasePlan *plan, etcd::Client *client, Deadline deadline)
{
    plan->otherLocksKnown = true;
    std::size_t asked = 0;
    for (const auto &key : othersOf(*plan)) {
        etcd::KeyValue entry;
        entry.key = key;
        entry.lease = leaseOf(*plan);
        const auto lock = inspect::etcdLockOf(entry);
        if (!lock)
            continue;
        if (++asked > mostLocksAsked) {
            plan->otherLocksKnown = false;
            co_return;
        }
        auto asking = client->range(inspect::oldestOf(*lock), deadline);
        const auto oldest = co_await asking;
        if (!oldest)
            plan->otherLocksKnown = false;
        else if (!oldest->entries.empty() && oldest->entries.front().key == key)
            plan->otherLocksLost.push_back(*lock);
    }
}

// Why the lease is left alone, before anything was sent.
std::optional<Error> objectionTo(const ForceReleasePlan &plan, const etcd::LeaseAnswer &lease)
{
    if (lease.ttl.count() <= 0)
        return goneAlready(plan);
    auto unnamed = lease.keys;
    std::erase_if(unnamed, [&](const QByteArray &key) { return std::ranges::count(*plan.leaseKeys, key) > 0; });
    if (unnamed.empty())
        return std::nullopt;
    return changedMeanwhile(plan, u"its lease has keys now that it had not: "_s + namesOf(unnamed));
}

} // namespace

GentlerMethod endLeaseMethod()
{
    return {Way::EndLease, &canEndLease, &whatEndLease, &planEndLease};
}

Task<ForceReleasePlan> withLeaseKeys(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    if (plan.way != Way::EndLease)
        co_return plan;
    auto asking = client->timeToLive(leaseOf(plan), true, deadline);
    const auto lease = co_await asking;
    if (!lease) {
        plan.alsoLost += u" ("_s + lease.error().message + u')';
        co_return plan;
    }
    plan.leaseKeys = lease->keys;
    std::ranges::sort(*plan.leaseKeys);
    auto adding = addOtherLocks(&plan, client, deadline);
    co_await adding;
    const auto others = othersOf(plan);
    const auto count = static_cast<qsizetype>(others.size());
    plan.alsoLost = others.empty() ? u"nothing else hangs on the lease"_s
                    : count == 1   ? u"1 other key of the lease: "_s + namesOf(others)
                                   : u"%1 other keys of the lease: "_s.arg(count) + namesOf(others);
    if (!plan.otherLocksLost.empty())
        plan.alsoLost += u"; of these it holds the locks "_s + namesOf(plan.otherLocksLost);
    co_return plan;
}

Error refusedBy(const ForceReleasePlan &plan, const etcd::TransactionAnswer &answer)
{
    if (answer.ranges.empty())
        return changedMeanwhile(plan, u"etcd does not say how"_s);
    const auto &there = answer.ranges.front().entries;
    if (there.empty())
        return goneAlready(plan);
    if (there.front().created != plan.guard.czxid)
        return changedMeanwhile(plan, u"its key was made anew at revision %1"_s.arg(there.front().created));
    if (plan.way == Way::EndLease)
        return changedMeanwhile(plan, u"its key hangs on another lease"_s);
    return changedMeanwhile(plan, u"who was before it is gone: it may hold the lock now"_s);
}

Task<Result<Sent>> endLease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    if (!plan.leaseKeys)
        co_return Error{ErrorCode::Refused, u"what else hangs on the lease could not be read, so nothing was sent"_s};
    auto asking = client->timeToLive(leaseOf(plan), true, deadline);
    const auto lease = co_await asking;
    if (!lease)
        co_return nothingChanged(u"what hangs on the lease"_s, lease.error());
    if (const auto no = objectionTo(plan, *lease))
        co_return *no;
    etcd::Operation remove, look;
    remove.kind = etcd::Operation::Kind::Remove;
    remove.range.key = look.range.key = plan.guard.value;
    look.range.keysOnly = true;
    etcd::Transaction transaction;
    transaction.conditions.push_back({plan.guard.value, plan.guard.czxid, leaseOf(plan)});
    transaction.then.push_back(remove);
    transaction.otherwise.push_back(look);
    auto deleting = client->commit(transaction, deadline);
    const auto deleted = co_await deleting;
    if (!deleted)
        co_return deleted.error();
    if (!deleted->held)
        co_return refusedBy(plan, *deleted);
    // Begun is ended: it has time of its own.
    auto revoking = client->revoke(leaseOf(plan), Deadline::after(client->loop(), std::chrono::seconds(5)));
    const auto revoked = co_await revoking;
    if (revoked || revoked.error().code == ErrorCode::NoNode) // it ended by itself just now
        co_return Sent();
    // Not as its code says: something was done.
    co_return Error{ErrorCode::UnknownOutcome,
                    u"its key was deleted, so it does not hold the lock; whether its lease ended "
                    u"is not known: "_s
                        + revoked.error().message};
}

} // namespace lockscope::operate
