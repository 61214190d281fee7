// SPDX-License-Identifier: Apache-2.0
#include "core/operate/etcd.h"

#include "core/base/text.h"
#include "core/inspect/etcd/recognise.h"
#include "core/operate/precheck.h"

namespace lockscope::operate {

using etcd::Operation;
using inspect::Contender;
using inspect::LockSnapshot;

namespace {

bool hasKey(const Contender &one)
{
    return !one.guard.etcd().key.isEmpty() && one.guard.etcd().createRevision > 0; // its lease may be lost
}

QString leaseWords(const Contender &one)
{
    return QString::fromLatin1(etcd::leaseText(one.guard.etcd().lease));
}

QString conditionOf(const Contender &one)
{
    return u"create_revision(%1) = %2"_s.arg(escaped(one.guard.etcd().key),
                                             QString::number(one.guard.etcd().createRevision));
}

// One key, which another client may write without creating it: its lease says whose it is.
bool isFixed(const LockSnapshot &snapshot)
{
    return inspect::keyOfFixed(snapshot.lock.name).has_value();
}

QString wokenBeside(const LockSnapshot &snapshot)
{
    return snapshot.waitersKnown ? u"no client waits"_s : sentence("pollers-notice");
}

// Whom all others wait for.
const Contender *firstOf(const LockSnapshot &snapshot)
{
    const bool isHeld = !snapshot.contenders.empty() && snapshot.contenders.front().role == inspect::Role::Holder;
    return isHeld && hasKey(snapshot.contenders.front()) ? &snapshot.contenders.front() : nullptr;
}

void planDeleteKey(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &key = holder.guard.etcd();
    const bool isOfLease = !isFixed(plan.before);
    const QStringList values{escaped(key.key), QString::number(key.createRevision), leaseWords(holder)};
    plan.backWithin = returnWithin(plan.before, holder);
    addTexts(plan, isOfLease ? "etcd-delete" : "etcd-delete-fixed", values);
    if (isOfLease)
        addTexts(plan, key.lease == 0 ? "etcd-delete-without-lease" : "etcd-delete-of-lease", values);
}

bool doOthersRead(const LockSnapshot &snapshot, const Contender &holder)
{
    return holder.mode == inspect::Mode::Read && snapshot.holderCount() > 1;
}

QString wokenByDeletion(const LockSnapshot &snapshot, const Contender &holder)
{
    const auto elsewhere = inspect::firstAwaitsElsewhere(snapshot);
    auto woken = snapshot.waiterCount() == 0      ? wokenBeside(snapshot)
                 : doOthersRead(snapshot, holder) ? sentence("other-readers-hold")
                 : elsewhere                      ? sentence("next-awaits-elsewhere", {label(*elsewhere, 80)})
                                                  : sentence("next-by-deletion");
    for (const auto &finding : inspect::wakesBeside(snapshot, holder.id))
        woken += clause(finding);
    return woken;
}

// While its key is there the waiter waits: of a reader the writer before it, as it may hold beside older readers;
// else whom all others wait for. Null where that is not known.
const Contender *blockerOf(const LockSnapshot &snapshot, const Contender &waiter)
{
    if (waiter.mode != inspect::Mode::Read)
        return firstOf(snapshot);
    const auto *writer = waiter.watches.isEmpty() ? nullptr : snapshot.find(waiter.watches.first().target);
    return writer && hasKey(*writer) ? writer : nullptr;
}

bool canLeaveEtcdQueue(const LockSnapshot &snapshot, const Contender &waiter)
{
    return hasKey(waiter) && blockerOf(snapshot, waiter);
}

QString whatLeaveEtcdQueue(const LockSnapshot &, const Contender &waiter)
{
    return sentence("etcd-leave-queue", {label(waiter.id, 80)});
}

void planLeaveEtcdQueue(ForceReleasePlan &plan, const Contender &waiter)
{
    const auto &key = waiter.guard.etcd();
    addTexts(plan, "etcd-leave-queue",
             {conditionOf(waiter), conditionOf(*blockerOf(plan.before, waiter)), escaped(key.key)});
    plan.who = grantedIfWaiterRemoved(plan.before, waiter);
    if (!plan.before.waitersGrantedWithout(waiter.id).empty())
        plan.wakes = sentence("etcd-readers-go-on");
    addTexts(plan, key.lease == 0 ? "etcd-place-lost" : "etcd-place-lost-not-lease");
}

// If the contender's key is the one of that revision, and that lease's unless it is 0, it is deleted; else it is
// shown.
etcd::Transaction deletionOf(const ForceReleasePlan &plan, etcd::LeaseId lease)
{
    Operation remove, look;
    remove.kind = Operation::Kind::Remove;
    remove.range.key = look.range.key = plan.guard.etcd().key;
    look.range.keysOnly = true;
    etcd::Transaction transaction;
    transaction.conditions.push_back({plan.guard.etcd().key, plan.guard.etcd().createRevision, lease});
    transaction.then.push_back(remove);
    transaction.otherwise.push_back(look);
    return transaction;
}

Task<Result<Sent>> deleteKey(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    auto transaction = deletionOf(plan, isFixed(plan.before) ? plan.guard.etcd().lease : 0);
    const auto *waiter = plan.way == ReleaseAction::KillWaiter ? plan.before.find(plan.holder) : nullptr;
    const auto *blocker = waiter ? blockerOf(plan.before, *waiter) : nullptr;
    if (blocker)
        transaction.conditions.push_back({blocker->guard.etcd().key, blocker->guard.etcd().createRevision});
    else if (plan.way == ReleaseAction::KillWaiter)
        co_return changedMeanwhile(plan, u"the holder of the lock is unknown"_s);
    CO_TRY(const auto &done, co_await client->commit(transaction, deadline));
    if (done.held)
        co_return Sent();
    co_return refusedBy(plan, done);
}

constexpr std::size_t mostLocksAsked = 32;

etcd::LeaseId leaseOf(const ForceReleasePlan &plan)
{
    return plan.guard.etcd().lease;
}

bool canEndLease(const LockSnapshot &, const Contender &holder)
{
    return hasKey(holder) && holder.guard.etcd().lease != 0;
}

QString whatEndLease(const LockSnapshot &, const Contender &holder)
{
    return u"end its lease %1 and delete every key attached to it"_s.arg(leaseWords(holder));
}

void planEndLease(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &key = holder.guard.etcd();
    addTexts(plan, "etcd-end-lease", {escaped(key.key), QString::number(key.createRevision), leaseWords(holder)});
    addTexts(plan, isFixed(plan.before) ? "etcd-end-fixed-lease" : "etcd-end-queued-lease");
    const bool isUnawaited = plan.before.waiterCount() == 0;
    plan.wakes = isUnawaited ? wokenBeside(plan.before) : sentence("next-by-deletion");
    if (doOthersRead(plan.before, holder)) {
        plan.wakes = plan.who = sentence("other-readers-hold");
        return;
    }
    plan.who = plan.nextHolder                           ? label(*plan.nextHolder, 80)
               : plan.before.waitersKnown && isUnawaited ? u"no client; then the lock is free"_s
                                                         : u"unknown"_s;
}

// Those that hang on it beside the contender's own.
std::vector<QByteArray> othersOf(const ForceReleasePlan &plan)
{
    auto others = plan.leaseKeys.value_or(std::vector<QByteArray>());
    std::erase(others, plan.guard.etcd().key);
    return others;
}

QString namesOf(const std::vector<QByteArray> &keys)
{
    constexpr qsizetype mostKeysSpoken = 20;
    return firstNamed(mapped<QStringList>(keys, [](const auto &key) { return label(key, 200); }), mostKeysSpoken);
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
        if (!lock && inspect::mayBeFixedKey(entry))
            plan->otherLocksLost.push_back(inspect::lockOfFixed(key));
        if (!lock)
            continue;
        if (++asked > mostLocksAsked) {
            plan->otherLocksKnown = false;
            co_return;
        }
        const auto oldest = co_await client->range(inspect::oldestOf(*lock), deadline);
        if (!oldest || inspect::etcdModeOf(entry) == inspect::Mode::Read) // a reader may hold beside older ones
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
    return changedMeanwhile(plan, u"its lease has new keys: %1"_s.arg(namesOf(unnamed)));
}

QString rangeText(const etcd::RangeRequest &range)
{
    auto text = u"range "_s + (range.key.isEmpty() ? u"all keys"_s : label(range.key, 120));
    if (!range.end.isEmpty() && !range.key.isEmpty())
        text += u" …"_s;
    if (range.limit > 0)
        text += u" limit %1"_s.arg(range.limit);
    return text;
}

QString operationText(const Operation &operation)
{
    const auto key = label(operation.range.key, 120);
    switch (operation.kind) {
    case Operation::Kind::Put:
        return u"put %1 lease %2"_s.arg(key, QString::fromLatin1(etcd::leaseText(operation.lease)));
    case Operation::Kind::Remove: return u"delete "_s + key;
    case Operation::Kind::Range: break;
    }
    return rangeText(operation.range);
}

QString leaseWord(etcd::LeaseId id)
{
    return QString::fromLatin1(etcd::leaseText(id));
}

QString transactionText(const etcd::Transaction &transaction)
{
    const auto all = firstTexts(transaction.then, 3, operationText);
    QStringList conditions;
    for (const auto &condition : transaction.conditions) {
        conditions << u"create_revision(%1) = %2"_s.arg(label(condition.key, 120),
                                                        QString::number(condition.created));
        if (condition.lease != 0)
            conditions << u"lease(%1) = %2"_s.arg(label(condition.key, 120), leaseWord(condition.lease));
    }
    return conditions.isEmpty() ? u"txn "_s + all : u"txn if %1: %2"_s.arg(conditions.join(u" and "_s), all);
}

struct EtcdWords {
    static constexpr bool repeatsStates = false;

    static QString text(const etcd::RangeRequest &request) { return rangeText(request); }
    static QString text(const etcd::Transaction &transaction) { return transactionText(transaction); }
    static QString text(const etcd::GrantRequest &request)
    {
        return u"lease grant %1 %2 s"_s.arg(leaseWord(request.id), QString::number(request.ttl.count()));
    }
    static QString text(const etcd::KeepAliveRequest &request)
    {
        return u"lease keep-alive "_s + leaseWord(request.id);
    }
    static QString text(const etcd::RevokeRequest &request) { return u"lease revoke "_s + leaseWord(request.id); }
    static QString text(const etcd::TimeToLiveRequest &request)
    {
        return u"lease timetolive "_s + leaseWord(request.id);
    }
    static QString text(const etcd::LeasesRequest &) { return u"lease list"_s; }
    static QString text(const etcd::AccessRequest &) { return u"user get, role get"_s; }

    template <class R>
    static bool isWrite(const R &)
    {
        return R::isWrite;
    }
    static bool isWrite(const etcd::Transaction &transaction) { return operate::isWrite(transaction); }

    static QString outcome(bool) { return u"ok"_s; }
    static QString outcome(const etcd::RangeAnswer &answer)
    {
        return u"ok, "_s + amountOf(qint64(answer.entries.size()), "key"_L1, "keys"_L1);
    }
    static QString outcome(const etcd::TransactionAnswer &answer)
    {
        return answer.held ? u"ok"_s : u"ok, the condition did not hold"_s;
    }
    static QString outcome(const etcd::LeaseAnswer &lease)
    {
        return lease.ttl.count() > 0 ? u"ok, %1 s"_s.arg(lease.ttl.count()) : u"ok, no such lease"_s;
    }
    static QString outcome(const std::vector<etcd::LeaseId> &all)
    {
        return u"ok, "_s + amountOf(qint64(all.size()), "lease"_L1, "leases"_L1);
    }
    static QString outcome(const etcd::AccessRights &answer)
    {
        return u"ok, "_s + amountOf(qint64(answer.permissions.size()), "permission"_L1, "permissions"_L1);
    }

    static QString stateText(const etcd::Client &, etcd::ClientState state)
    {
        return u"connection: "_s + stateWord(state);
    }
};

class GatedEtcd final : public GatedPort<etcd::ForwardingClient, EtcdWords> {
public:
    using GatedPort::GatedPort;

    Subscription watch(etcd::WatchRequest request, std::function<void(const etcd::WatchNews &)> listener) override
    {
        const auto what = u"watch %1 from revision %2"_s.arg(
            request.key.isEmpty() ? u"all keys"_s : label(request.key, 120), QString::number(request.from));
        auto entered = key()->gate->enter(what, false);
        return inner().watch(std::move(request), noting(*entered, std::move(listener)));
    }

private:
    std::function<void(const etcd::WatchNews &)> noting(quint64 entry,
                                                        std::function<void(const etcd::WatchNews &)> listener) const
    {
        return [weak = std::weak_ptr(key()), &loop = inner().loop(), sent = inner().loop().now(),
                open = std::make_shared<bool>(true), entry, listener](const etcd::WatchNews &news) {
            const auto alive = weak.lock();
            if (alive && std::exchange(*open, false))
                alive->gate->leave(entry, news.over ? news.over->message : u"ok"_s, loop.now() - sent);
            for (const auto &event : alive ? news.events : std::vector<etcd::WatchEvent>())
                alive->gate->event((event.isRemoved ? u"deleted "_s : u"put "_s) + label(event.entry.key, 120));
            listener(news);
        };
    }
};

} // namespace

std::vector<ReleaseMethod> releaseMethodsOfEtcd()
{
    return {{ReleaseMechanism::DeleteAtRevision, &planDeleteKey, &wokenByDeletion, &hasKey}};
}

std::vector<AlternativeMethod> alternativeMethodsOfEtcd()
{
    return {{ReleaseAction::KillWaiter, &canLeaveEtcdQueue, &whatLeaveEtcdQueue, &planLeaveEtcdQueue},
            endLeaseMethod()};
}

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    if (plan.way == ReleaseAction::KillWaiter)
        return deleteKey(std::move(plan), client, deadline);
    if (plan.way == ReleaseAction::EndLease)
        return endLease(std::move(plan), client, deadline);
    const auto way = plan.way == ReleaseAction::Release ? releaseWay(plan.before)
                                                        : Result<ReleaseMechanism>(ReleaseMechanism::None);
    return way && *way == ReleaseMechanism::DeleteAtRevision ? deleteKey(std::move(plan), client, deadline)
                                                             : nothingSent(std::move(plan));
}

AlternativeMethod endLeaseMethod()
{
    return {ReleaseAction::EndLease, &canEndLease, &whatEndLease, &planEndLease};
}

Task<ForceReleasePlan> withLeaseKeys(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    if (plan.way != ReleaseAction::EndLease)
        co_return plan;
    const auto lease = co_await client->timeToLive(leaseOf(plan), true, deadline);
    if (!lease) {
        plan.alsoLost += u" ("_s + lease.error().message + u')';
        co_return plan;
    }
    plan.leaseKeys = lease->keys;
    std::ranges::sort(*plan.leaseKeys);
    co_await addOtherLocks(&plan, client, deadline);
    const auto others = othersOf(plan);
    const auto count = static_cast<qsizetype>(others.size());
    plan.alsoLost = others.empty() ? u"no other key is attached to the lease"_s
                    : count == 1   ? u"1 other key of the lease: %1"_s.arg(namesOf(others))
                                   : u"%1 other keys of the lease: %2"_s.arg(QString::number(count), namesOf(others));
    if (!plan.otherLocksLost.empty())
        plan.alsoLost += clause(u"with these keys it holds the locks %1"_s.arg(namesOf(plan.otherLocksLost)));
    co_return plan;
}

Error refusedBy(const ForceReleasePlan &plan, const etcd::TransactionAnswer &answer)
{
    if (answer.ranges.empty())
        return changedMeanwhile(plan, u"etcd did not report the difference"_s);
    const auto &there = answer.ranges.front().entries;
    if (there.empty())
        return goneAlready(plan);
    if (there.front().created != plan.guard.etcd().createRevision)
        return changedMeanwhile(plan, u"its key was re-created at revision %1"_s.arg(there.front().created));
    if (plan.way == ReleaseAction::EndLease || isFixed(plan.before))
        return changedMeanwhile(plan, u"its key is now attached to another lease"_s);
    return changedMeanwhile(plan, u"the client before it has left, so it may now hold the lock"_s);
}

Task<Result<Sent>> endLease(ForceReleasePlan plan, etcd::Client *client, Deadline deadline)
{
    if (!plan.leaseKeys)
        co_return Error{ErrorCode::Refused, sentence("etcd-keys-unread")};
    const auto lease = co_await client->timeToLive(leaseOf(plan), true, deadline);
    if (!lease)
        co_return nothingChanged(u"the keys of the lease"_s, lease.error());
    if (const auto no = objectionTo(plan, *lease))
        co_return *no;
    const auto transaction = deletionOf(plan, leaseOf(plan));
    CO_TRY(const auto &deleted, co_await client->commit(transaction, deadline));
    if (!deleted.held)
        co_return refusedBy(plan, deleted);
    // Begun is ended: it has time of its own.
    const auto revoked =
        co_await client->revoke(leaseOf(plan), Deadline::after(client->loop(), std::chrono::seconds(5)));
    if (revoked || revoked.error().code == ErrorCode::NoNode) // it ended by itself just now
        co_return Sent();
    // Not as its code says: something was done.
    co_return Error{ErrorCode::UnknownOutcome, sentence("etcd-lease-unknown", {revoked.error().message})};
}

bool isWrite(const etcd::Transaction &transaction)
{
    const auto changes = [](const Operation &one) { return one.kind != Operation::Kind::Range; };
    return std::ranges::any_of(transaction.then, changes) || std::ranges::any_of(transaction.otherwise, changes);
}

std::unique_ptr<etcd::Client> gated(etcd::Client &client, Gate &gate)
{
    return std::make_unique<GatedEtcd>(client, nullptr, gate);
}

} // namespace lockscope::operate
