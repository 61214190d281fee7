// SPDX-License-Identifier: Apache-2.0
#include "core/operate/forcereleaseplan.h"

#include "core/base/duration.h"
#include "core/base/text.h"
#include "core/operate/clientmanners.h"
#include "core/operate/releaseway.h"
#include "core/rules/contenderid.h"
#include "core/rules/redissonkeys.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using recipes::recipeOf;

namespace {

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
    return Error{ErrorCode::Refused, u"%1; nothing was sent; %2"_s.arg(what, next)};
}

QString idsOf(const std::vector<const Contender *> &contenders)
{
    QStringList ids;
    for (const auto *one : contenders)
        ids << label(one->id, 80);
    return ids.join(u", "_s);
}

std::vector<const Contender *> holdersOf(const LockSnapshot &snapshot)
{
    std::vector<const Contender *> holders;
    for (const auto &one : snapshot.contenders) {
        if (one.role == Role::Holder)
            holders.push_back(&one);
    }
    return holders;
}

// What the session has in the lock; what it holds, if it holds anything.
std::vector<const Contender *> ofSession(const LockSnapshot &snapshot, const QByteArray &session)
{
    std::vector<const Contender *> all;
    bool holds = false;
    for (const auto &one : snapshot.contenders) {
        if (!one.session || one.session->toUtf8() != session)
            continue;
        all.push_back(&one);
        holds = holds || one.role == Role::Holder;
    }
    if (holds)
        std::erase_if(all, [](const auto *one) { return one->role != Role::Holder; });
    return all;
}

// Whom the operator means by `holder`; Refused where that could be another by now.
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
                           u"say which one: "_s + idsOf(found));
    }
    std::vector<const Contender *> fuller;
    for (const auto &one : snapshot.contenders) {
        if (recipes::isFullFormOf(one.id, holder))
            fuller.push_back(&one);
    }
    if (!fuller.empty())
        return refused(u"\"%1\" is a name that comes again, and may be another's by now, in %2"_s.arg(said, lock),
                       u"the one there now is %1: look at it, and say that"_s.arg(idsOf(fuller)));
    const auto holders = holdersOf(snapshot);
    if (holders.empty())
        return refused(u"nobody holds %1"_s.arg(lock), u"there is nothing to release"_s);
    return refused(u"\"%1\" does not hold %2 (any more, or never did)"_s.arg(said, lock),
                   u"held by "_s + idsOf(holders));
}

// Empty when the contender holds. On a Redlock set a claim below the majority may be taken away, too: that is how
// what a dead client left behind goes.
std::optional<Error> refusalOf(const LockSnapshot &snapshot, const Contender &contender)
{
    if (recipeOf(snapshot.recipe).quorum || contender.role == Role::Holder)
        return std::nullopt;
    const auto holders = holdersOf(snapshot);
    if (holders.empty())
        return refused(u"nobody holds %1"_s.arg(lockText(snapshot)), u"there is nothing to release"_s);
    return refused(u"\"%1\" waits for %2 and does not hold it"_s.arg(label(contender.id, 80), lockText(snapshot)),
                   u"held by "_s + idsOf(holders));
}

// Whether the guard says enough to tell this hold from a later one.
bool isIdentified(const Contender &holder, ReleaseWay way)
{
    if (way == ReleaseWay::DeleteNode)
        return holder.guard.path.startsWith('/') && holder.guard.czxid != 0;
    return !holder.guard.value.isEmpty();
}

void planDelete(ForceReleasePlan &plan, const Contender &holder)
{
    const auto path = escaped(holder.guard.path);
    plan.commands << u"sync %1"_s.arg(path) << u"getData %1"_s.arg(path)
                  << u"delete %1 version %2"_s.arg(path, QString::number(holder.guard.version));
    const auto owner =
        holder.guard.owner == 0 ? u"no owner session (persistent)"_s : u"owner 0x%1"_s.arg(holder.guard.owner, 0, 16);
    plan.guardText =
        u"czxid 0x%1, %2 and data version %3, read again right before the delete"_s.arg(holder.guard.czxid, 0, 16)
            .arg(owner)
            .arg(holder.guard.version);
    plan.exact = recipes::isGivenOnce(ZPath(holder.guard.path).name());
    if (!plan.exact)
        plan.warnings
            << u"ZooKeeper cannot delete a name that comes again only if it is still the same node: should it be "
               u"re-created in the moment between the last look and the delete, the new holder loses it"_s;
}

// What is at stake where the value is the same for every holder and nothing else tells them apart.
void planRisk(ForceReleasePlan &plan, const Contender &holder)
{
    if (!holder.guard.comesAgain)
        return;
    const auto value = label(holder.guard.value, 80);
    const auto &recipe = recipeOf(plan.before.recipe);
    const auto why =
        recipe.quorum ? u"its moment of expiry differs from node to node"_s
        : holder.expiresAt && recipe.endsBy != recipes::EndsBy::Timestamp
            ? u"this server does not say to the millisecond when the key ends (Redis does from version 7)"_s
            : u"the key has no expiry"_s;
    plan.exact = false;
    plan.risk =
        u"the value \"%1\" is one that another holder may write as well, and %2: should the lock pass to another "
        u"before the command arrives, that one loses it"_s.arg(value, why);
    plan.warnings << plan.risk;
}

// What the script sends besides, where the name is one that clients of other makes sleep by.
void planWakeUps(ForceReleasePlan &plan)
{
    const auto &wakes = plan.wakeUps;
    if (!wakes.list.isEmpty())
        plan.commands << u"and then: DEL %1, LPUSH %1 1, PEXPIRE %1 1000"_s.arg(escaped(wakes.list));
    for (const auto &channel : wakes.channels)
        plan.commands << u"and then: PUBLISH %1 %2"_s.arg(escaped(channel), escaped(plan.before.lock.name));
}

void planDeleteUntil(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.value);
    const auto expiry = QString::number(*holder.guard.expiryMs);
    const auto script = plan.wakeUps.isEmpty() ? u"compare-and-delete-until"_s : u"compare-and-delete-and-wake"_s;
    plan.commands << u"EVALSHA %1 1 %2 %3 %4"_s.arg(script, key, value, expiry)
                  << u"in the script: DEL %1, only if GET %1 is %2 and PEXPIRETIME %1 is %3"_s.arg(key, value,
                                                                                                   expiry);
    planWakeUps(plan);
    plan.guardText = u"the key must still hold %1 and still end at %2 (ms since 1970); compared and deleted in one "
                     u"script"_s.arg(value, expiry);
    plan.exact = false;
    plan.warnings << u"every holder writes the same value: only the moment at which it ends tells them apart, to the "
                     u"millisecond. One that took the key within a millisecond of this one would lose it"_s;
}

void planCompareAndDelete(ForceReleasePlan &plan, const Contender &holder)
{
    plan.wakeUps = recipes::signalsOf(plan.before.lock.name);
    if (holder.guard.expiryMs) {
        planDeleteUntil(plan, holder);
        return;
    }
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.value);
    const auto script = plan.wakeUps.isEmpty() ? u"compare-and-delete"_s : u"compare-and-delete-and-wake"_s;
    plan.commands << u"EVALSHA %1 1 %2 %3"_s.arg(script, key, value)
                  << u"in the script: DEL %1, only if GET %1 is %2"_s.arg(key, value);
    planWakeUps(plan);
    plan.guardText = u"the key must still hold %1; compared and deleted in one script"_s.arg(value);
}

void planQuorumDelete(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.value);
    int votes = 0;
    for (const auto &said : plan.before.nodes) {
        plan.commands << u"%1: EVALSHA compare-and-delete 1 %2 %3"_s.arg(said.node, key, value);
        votes += said.value == holder.guard.value ? 1 : 0;
        if (!said.answered)
            plan.warnings << u"node %1 did not answer: what it holds of this ends with its TTL"_s.arg(said.node);
    }
    plan.commands << u"in the script: DEL %1, only if GET %1 is %2"_s.arg(key, value);
    plan.guardText = u"on each node the key must still hold %1; compared and deleted in one script"_s.arg(value);
    if (holder.role == Role::Holder)
        return;
    plan.guardText += u"; and it must still be on less than a majority"_s;
    const auto *owner =
        plan.before.contenders.front().role == Role::Holder ? &plan.before.contenders.front() : nullptr;
    plan.warnings << u"%1 does not hold the lock: it is on %2 of %3 nodes only. This takes away what a client left "
                     u"behind, or a try that is under way; %4"_s.arg(
                         label(holder.id, 80), QString::number(votes), QString::number(plan.before.nodes.size()),
                         owner ? u"%1 keeps the lock"_s.arg(label(owner->id, 80)) : u"nobody holds it now"_s);
}

void planGroup(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto channel = escaped(redis::RedissonKeys(plan.before.lock.name).channel());
    const auto value = escaped(holder.guard.group);
    const auto owner = escaped(holder.guard.value);
    plan.commands << u"EVALSHA redisson-group-release 2 %1 %2 %3 %4"_s.arg(key, channel, value, owner)
                  << u"in the script: HDEL %1 %2 %2:%3:expire_time %2:%3:lock_count, PUBLISH %4 0"_s.arg(
                         key, value, owner, channel);
    plan.guardText = u"the hash must still give %1 to %2; checked and released in one script"_s.arg(value, owner);
}

void planRedisson(ForceReleasePlan &plan, const Contender &holder)
{
    if (!holder.guard.group.isEmpty()) {
        planGroup(plan, holder);
        return;
    }
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto key = escaped(plan.before.lock.name);
    const auto field = escaped(holder.guard.value);
    plan.commands << u"EVALSHA redisson-force-release 5 %1 … %2"_s.arg(key, field);
    if (recipeOf(plan.before.recipe).readWrite) {
        const bool isWriter = holder.guard.value.endsWith(":write");
        plan.commands << u"in the script: HDEL %1 %2 (DEL when it was the last), PUBLISH %3 %4"_s.arg(
            key, field, escaped(keys.readWriteChannel()), isWriter ? u"1"_s : u"0 when it was the last"_s);
    } else {
        plan.commands << u"in the script: DEL %1, PUBLISH %2 0, and to the head of a fair queue on %2:HEAD"_s.arg(
            key, escaped(keys.channel()));
    }
    plan.guardText = u"the hash must still have the field %1; checked and released in one script"_s.arg(field);
}

void planPermit(ForceReleasePlan &plan, const Contender &holder)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto key = escaped(plan.before.lock.name);
    const auto deadlines = escaped(keys.permitDeadlines());
    const auto permit = escaped(holder.guard.value);
    plan.commands << u"EVALSHA redisson-permit-release 2 %1 %2 %3 …"_s.arg(key, deadlines, permit)
                  << u"in the script: ZREM %1 %2, INCRBY %3 1, PUBLISH %4 with the permits left"_s.arg(
                         deadlines, permit, key, escaped(keys.semaphoreChannel()));
    plan.guardText = u"the permit must still be out; checked and given back in one script"_s;
}

void planKill(ForceReleasePlan &plan, const Contender &holder)
{
    const bool isNamed = recipeOf(plan.before.recipe).shape == recipes::Shape::NamedLock;
    const auto connection = label(holder.session.value_or(QString()).toUtf8(), 40);
    const auto holds =
        isNamed
            ? u"IS_USED_LOCK(…) = %1"_s.arg(connection)
            : u"INNODB_TRX (or INNODB STATUS), read afresh, has this transaction of connection %1"_s.arg(connection);
    plan.commands << u"BEGIN NOT ATOMIC IF %1 THEN KILL CONNECTION %2 (in one statement where the server can)"_s.arg(
        holds, connection)
                  << u"KILL CONNECTION %1"_s.arg(connection);
    plan.guardText =
        isNamed ? u"%1 must still hold it, looked at right before the KILL"_s.arg(label(holder.guard.value))
                : u"%1 (ms since 1970), looked at right before the KILL; what may be old does not count"_s.arg(
                    label(holder.guard.value));
    plan.exact = false;
    plan.warnings
        << u"KILL knows only the connection: should it let go and take something else in the moment between "
           u"the last look and the KILL, it loses that"_s
        << u"everything this connection holds goes with it: its whole transaction is rolled back, which may "
           u"take as long as its changes took, and its named locks are released. A pool may have lent the "
           u"connection to other work"_s;
}

QString plural(int count, const QString &one, const QString &many)
{
    return count == 1 ? one : many.arg(count);
}

// By the name's own clients, as far as it has any; see planWakeUps.
QString keyWakes(const LockSnapshot &snapshot)
{
    const auto wakes = recipes::signalsOf(snapshot.lock.name);
    const auto client = snapshot.client.value_or(QString());
    const bool isPython = client == u"python-redis-lock"_s;
    const bool isSpring = client == u"Spring Integration"_s;
    QStringList who;
    if (!wakes.list.isEmpty())
        who << (isPython ? u"the first of python-redis-lock's waiters, by the push to %1"_s
                         : u"python-redis-lock's clients, should any wait, by the push to %1"_s)
                   .arg(escaped(wakes.list));
    if (isSpring)
        who << u"Spring's waiters in pub/sub mode, by the publish (those that spin poll)"_s;
    else if (!wakes.channels.isEmpty() && client.isEmpty())
        who << u"Spring's clients, should any wait in pub/sub mode, by the publish"_s;
    if (who.isEmpty())
        return u"nobody is told: clients that want it poll, and find it free"_s;
    return who.join(u"; "_s) + u"; other clients poll"_s;
}

QString redissonWakes(const LockSnapshot &snapshot, const Contender &holder)
{
    const bool isReader = recipeOf(snapshot.recipe).readWrite && !holder.guard.value.endsWith(":write");
    if (isReader && snapshot.holderCount() > 1)
        return u"nobody: others hold it too, and Redisson publishes only when the last reader lets go"_s;
    if (snapshot.waiterCount() == 0 && snapshot.waitersKnown)
        return u"nobody waits; the publish is sent all the same, for who comes meanwhile"_s;
    return u"the waiting clients, by the publish; a bare DEL would leave them asleep (those of a spin lock poll)"_s;
}

QString wakesText(const LockSnapshot &snapshot, const Contender &holder, ReleaseWay way)
{
    switch (way) {
    case ReleaseWay::CompareAndDelete: return keyWakes(snapshot);
    case ReleaseWay::QuorumDelete: return u"nobody is told: clients that want it poll, and find it free"_s;
    case ReleaseWay::KillConnection:
        return snapshot.waiterCount() == 0 ? u"nobody waits"_s : u"the first in line, by the server itself"_s;
    case ReleaseWay::RedissonUnlock:
    case ReleaseWay::RedissonPermit: return redissonWakes(snapshot, holder);
    case ReleaseWay::DeleteNode:
    case ReleaseWay::None: break;
    }
    int watchers = 0;
    bool herd = false;
    for (const auto &contender : snapshot.contenders) {
        const bool watches = std::any_of(contender.watches.begin(), contender.watches.end(),
                                         [&](const auto &edge) { return edge.children || edge.target == holder.id; });
        watchers += watches ? 1 : 0;
        herd = herd || (watches && watchers > 1);
    }
    if (watchers == 0)
        return snapshot.waiterCount() == 0 ? u"nobody waits"_s : u"no waiter seen to watch it"_s;
    const auto text = plural(watchers, u"1 waiter, by the deletion; nothing else to publish"_s,
                             u"%1 waiters, by the deletion; nothing else to publish"_s);
    return herd ? text + u" (a herd: one of them gets it)"_s : text;
}

void planGentler(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &snapshot = plan.before;
    const auto &recipe = recipeOf(snapshot.recipe);
    const auto then = plan.nextHolder ? u"; then %1 gets the lock"_s.arg(label(*plan.nextHolder, 80))
                                      : u"; then the lock is free"_s;
    if (holder.expiresAt) {
        const auto left = spokenDuration(*holder.expiresAt - snapshot.observed);
        plan.gentler << (recipe.endsBy == recipes::EndsBy::Session
                             ? u"its session ends by itself in %1 unless the client comes back"_s.arg(left) + then
                             : u"its TTL runs out in %1 unless the holder renews it"_s.arg(left) + then);
    }
    if (recipe.revocable)
        plan.gentler << u"ask the holder: setData %1 __REVOKE__ (works if its client made the lock revocable)"_s.arg(
            escaped(holder.guard.path));
    plan.gentler << (holder.endpoint
                         ? u"have the client at %1 release it, or stop it"_s.arg(label(holder.endpoint->toUtf8()))
                         : u"have the client that holds it release it, or stop it"_s);
}

void planWarnings(ForceReleasePlan &plan, const Contender &holder)
{
    const auto &snapshot = plan.before;
    const auto &recipe = recipeOf(snapshot.recipe);
    plan.warnings.prepend(
        recipe.release == ReleaseWay::KillConnection
            ? u"the old holder (%1) is told only by its next statement, which fails; until then it may go on with what "
              u"lies outside this server"_s.arg(nameOf(holder))
            : u"the old holder (%1) may still believe it holds the lock, and go on working: nothing tells it. Only a "
              u"resource that checks fencing tokens is safe from it"_s.arg(nameOf(holder)));
    if (recipe.electsLeader)
        plan.warnings << u"this is an election: the node is a system's leader. Deleting it deposes the leader, and "
                         u"the system may fail over, or run with two leaders until the old one notices"_s;
    if (!holder.expiresAt && recipe.endsBy != recipes::EndsBy::Session)
        plan.gentler << u"waiting does not help: it has no TTL and never ends by itself"_s;
    if (holder.reentry > 1)
        plan.warnings << u"its holder has taken it %1 times; all of them are released at once"_s.arg(holder.reentry);
    if (snapshot.holderCount() > 1)
        plan.warnings << u"%1 hold it; only this one is released"_s.arg(snapshot.holderCount());
    if (snapshot.confidence == inspect::Confidence::Low)
        plan.warnings << u"that this is a lock is a guess (%1): look at the raw %2 first"_s.arg(
            snapshot.why, infoOf(snapshot.backend).entry);
    if (!snapshot.waitersKnown)
        plan.warnings << u"clients that poll leave no trace: who gets it next is not known"_s;
}

} // namespace

Result<ForceReleasePlan> planForceRelease(const LockSnapshot &snapshot, const QByteArray &holder)
{
    const auto who = meant(snapshot, holder);
    if (!who)
        return who.error();
    const auto &contender = **who;
    if (auto refusal = refusalOf(snapshot, contender))
        return *refusal;
    const auto way = releaseWay(snapshot);
    if (!way)
        return way.error();
    if (!isIdentified(contender, *way))
        return refused(
            u"the identity of \"%1\" in %2 could not be read"_s.arg(label(contender.id, 80), lockText(snapshot)),
            u"check the permissions on its node or key"_s);

    ForceReleasePlan plan;
    plan.before = snapshot;
    plan.holder = contender.id;
    plan.guard = contender.guard;
    if (const auto *next = snapshot.nextAfter(contender.id))
        plan.nextHolder = next->id;
    switch (*way) {
    case ReleaseWay::DeleteNode: planDelete(plan, contender); break;
    case ReleaseWay::CompareAndDelete: planCompareAndDelete(plan, contender); break;
    case ReleaseWay::QuorumDelete: planQuorumDelete(plan, contender); break;
    case ReleaseWay::RedissonUnlock: planRedisson(plan, contender); break;
    case ReleaseWay::RedissonPermit: planPermit(plan, contender); break;
    case ReleaseWay::KillConnection: planKill(plan, contender); break;
    case ReleaseWay::None: break;
    }
    plan.wakes = wakesText(snapshot, contender, *way);
    planGentler(plan, contender);
    planRisk(plan, contender);
    planWarnings(plan, contender);
    planForClient(plan, contender);
    return plan;
}

} // namespace lockscope::operate
