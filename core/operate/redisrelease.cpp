// SPDX-License-Identifier: Apache-2.0
#include "core/operate/redis.h"

#include "core/base/duration.h"
#include "core/base/identifiers.h"
#include "core/base/text.h"
#include "core/operate/precheck.h"
#include "core/operate/releasemethod.h"
#include "core/redis/client.h"
#include "core/rules/keysignals.h"
#include "core/rules/redissonkeys.h"
#include "core/rules/turn.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using recipes::recipeOf;

namespace {

// What is at stake where the value is the same for every holder and nothing else tells them apart.
void planRisk(ForceReleasePlan &plan, const Contender &holder)
{
    if (!holder.guard.redis().comesAgain)
        return;
    const auto value = label(holder.guard.redis().value, 80);
    const auto &recipe = recipeOf(plan.before.recipe);
    const auto why = recipe.quorum ? u"its expiry time differs between the nodes"_s
                     : holder.expiresAt && recipe.endsBy != recipes::EndsBy::Timestamp
                         ? u"this server does not report the expiry time to the millisecond (Redis 7 and later do)"_s
                         : u"the key has no expiry"_s;
    plan.exact = false;
    plan.risk =
        u"the value \"%1\" is not unique to this holder, and %2. If the lock changes hands before the command "
        u"arrives, the new holder loses it"_s.arg(value, why);
    plan.warnings << plan.risk;
}

// A client that lives may undo it.
void planReturn(ForceReleasePlan &plan, const Contender &holder)
{
    plan.backWithin = returnWithin(plan.before, holder);
    if (plan.backWithin && plan.before.clientTraits.putsKeyBack)
        plan.warnings
            << u"if its client is RedLock.net and still runs, it puts the key back at its next renewal (within "
               u"%1) unless another client has the lock. End that process first, or let another client acquire "
               u"the lock immediately. If %1 is less than a minute, Lockscope then checks the lock again"_s.arg(
                   formatDuration(*plan.backWithin));
}

// Who lets go and takes it again has the same id.
void planLease(ForceReleasePlan &plan, const Contender &holder)
{
    if (leaseEndOf(plan.before, holder))
        plan.guardText += leaseGuardText();
}

// In a command, where nothing at all would not be seen.
QString shownValue(const QByteArray &value)
{
    return value.isEmpty() ? u"\"\""_s : escaped(value);
}

// Whom the release of a key wakes. A client that is known sleeps only where that client does, and one that is not may
// be Spring's if its token is of that form. What the user's rules say comes before all of that.
recipes::KeySignals wakesOf(const LockSnapshot &snapshot, const Contender &holder)
{
    auto wakes = recipes::wakeSignalsOf(snapshot.lock.name);
    if (recipes::wakingRule(snapshot.lock.name))
        return wakes;
    const auto &traits = snapshot.clientTraits;
    const bool mayBeSprings = snapshot.client ? traits.waitsOnChannel : isUuid36(holder.guard.redis().value);
    if (snapshot.byUserRule || !mayBeSprings) {
        wakes.channels.clear();
        wakes.topics.clear();
    }
    if (snapshot.byUserRule || (snapshot.client && !traits.waitsOnList))
        wakes.list.clear();
    return wakes;
}

void planDeleteUntil(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto value = shownValue(holder.guard.redis().value);
    const auto expiry = QString::number(*holder.guard.redis().expiryMs);
    const auto script = plan.wakeUps.isEmpty() ? u"compare-and-delete-until"_s : u"compare-and-delete-and-wake"_s;
    plan.commands << u"EVALSHA %1 1 %2 %3 %4"_s.arg(script, key, value, expiry)
                  << u"in the script: DEL %1, only if GET %1 is %2 and PEXPIRETIME %1 is %3"_s.arg(key, value,
                                                                                                   expiry);
    planWakeUps(plan);
    plan.guardText = u"the key must still hold %1 and still expire at %2 (ms since 1970); compared and deleted in "
                     u"one script"_s.arg(value, expiry);
    plan.exact = false;
    plan.warnings
        << u"another holder may write the same value, so only the expiry time distinguishes them. A new holder "
           u"whose key expires in the same millisecond loses it"_s;
}

void planCompareAndDelete(ForceReleasePlan &plan, const Contender &holder)
{
    plan.wakeUps = wakesOf(plan.before, holder);
    if (holder.guard.redis().expiryMs) {
        planDeleteUntil(plan, holder);
        return;
    }
    const auto key = escaped(plan.before.lock.name);
    const auto value = shownValue(holder.guard.redis().value);
    const auto script = plan.wakeUps.isEmpty() ? u"compare-and-delete"_s : u"compare-and-delete-and-wake"_s;
    plan.commands << u"EVALSHA %1 1 %2 %3"_s.arg(script, key, value)
                  << u"in the script: DEL %1, only if GET %1 is %2"_s.arg(key, value);
    planWakeUps(plan);
    plan.guardText = u"the key must still hold %1; compared and deleted in one script"_s.arg(value);
    if (!plan.wakeUps.isEmpty())
        planLease(plan, holder);
}

void planQuorumDelete(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.redis().value);
    int votes = 0;
    for (const auto &said : plan.before.nodes) {
        plan.commands << u"%1: EVALSHA compare-and-delete 1 %2 %3"_s.arg(said.node, key, value);
        votes += said.value == holder.guard.redis().value ? 1 : 0;
        if (!said.answered)
            plan.warnings << u"node %1 did not respond; its copy of the lock expires with its TTL"_s.arg(said.node);
    }
    plan.commands << u"in the script: DEL %1, only if GET %1 is %2"_s.arg(key, value);
    plan.guardText = u"on each node the key must still hold %1; compared and deleted in one script"_s.arg(value);
    if (holder.role == Role::Holder)
        return;
    plan.guardText += clause(u"the value must still be on fewer nodes than a majority"_s);
    const auto *owner =
        plan.before.contenders.front().role == Role::Holder ? &plan.before.contenders.front() : nullptr;
    plan.warnings << u"%1 does not hold the lock: its value is on only %2 of %3 nodes. This removes what a failed "
                     u"or still running attempt left there; %4"_s.arg(
                         label(holder.id, 80), QString::number(votes), QString::number(plan.before.nodes.size()),
                         owner ? u"%1 keeps the lock"_s.arg(label(owner->id, 80)) : u"no client holds it"_s);
}

void planGroup(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto channel = escaped(redis::RedissonKeys(plan.before.lock.name).channel());
    const auto value = escaped(holder.guard.redis().counterpart);
    const auto owner = escaped(holder.guard.redis().value);
    plan.commands << u"EVALSHA redisson-group-release 2 %1 %2 %3 %4"_s.arg(key, channel, value, owner)
                  << u"in the script: HDEL %1 %2 %2:%3:expire_time %2:%3:lock_count, PUBLISH %4 0"_s.arg(
                         key, value, owner, channel);
    plan.guardText = u"the hash must still assign %1 to %2; checked and released in one script"_s.arg(value, owner);
}

void planRedisson(ForceReleasePlan &plan, const Contender &holder)
{
    if (!holder.guard.redis().counterpart.isEmpty()) {
        planGroup(plan, holder);
        return;
    }
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto key = escaped(plan.before.lock.name);
    const auto field = escaped(holder.guard.redis().value);
    plan.commands << u"EVALSHA redisson-force-release 5 %1 … %2"_s.arg(key, field);
    if (recipeOf(plan.before.recipe).readWrite) {
        const bool isWriter = holder.guard.redis().value.endsWith(":write");
        plan.commands << u"in the script: HDEL %1 %2 (DEL when it was the last), PUBLISH %3 %4"_s.arg(
            key, field, escaped(keys.readWriteChannel()), isWriter ? u"1"_s : u"0 when it was the last"_s);
    } else {
        plan.commands << u"in the script: DEL %1, PUBLISH %2 0, and to the head of a fair queue on %2:HEAD"_s.arg(
            key, escaped(keys.channel()));
    }
    plan.guardText = u"the hash must still have the field %1; checked and released in one script"_s.arg(field);
    planLease(plan, holder);
}

void planPermit(ForceReleasePlan &plan, const Contender &holder)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto key = escaped(plan.before.lock.name);
    const auto deadlines = escaped(keys.permitDeadlines());
    const auto permit = escaped(holder.guard.redis().value);
    plan.commands << u"EVALSHA redisson-permit-release 2 %1 %2 %3 …"_s.arg(key, deadlines, permit)
                  << u"in the script: ZREM %1 %2, INCRBY %3 1, PUBLISH %4 with the permits left"_s.arg(
                         deadlines, permit, key, escaped(keys.semaphoreChannel()));
    plan.guardText = u"the permit must still be held; checked and returned in one script"_s;
}

bool isListed(const inspect::Identity &guard)
{
    return !guard.redis().counterpart.isEmpty();
}

void planMemberBack(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto member = escaped(holder.guard.redis().value);
    if (isListed(holder.guard)) {
        const auto available = escaped(redis::GrabbedKeys(plan.before.lock.name).available());
        const auto since = escaped(holder.guard.redis().counterpart);
        plan.commands << u"EVALSHA member-back 2 %1 %2 %3 %4"_s.arg(key, available, member, since)
                      << u"in the script: HDEL %1 %3, LPUSH %2 %3, only if HGET %1 %3 is %4"_s.arg(key, available,
                                                                                                   member, since);
        plan.guardText =
            u"permit %1 must still be held since %2; compared and returned in one script"_s.arg(member, since);
        plan.exact = false;
        plan.risk =
            u"the next holder of permit %1 loses it when the old holder finishes, because clients return a permit "
            u"by its number alone"_s.arg(member);
        plan.warnings << plan.risk;
        plan.alternatives.prepend(
            u"stop the client that holds it first and check that it has ended; it then cannot return the permit"_s);
        return;
    }
    const auto mark = QString::fromLatin1(plan.before.clientTraits.exclusiveMark);
    plan.commands << u"EVALSHA member-back 1 %1 %2 %3"_s.arg(key, member, mark.isEmpty() ? u"\"\""_s : mark)
                  << (mark.isEmpty()
                          ? u"in the script: ZREM %1 %2"_s.arg(key, member)
                          : u"in the script: ZREM %1 %2, then ZREM %1 %3 if it is the only member left"_s.arg(
                              key, member, mark));
    plan.guardText = u"%1 must still be a member; checked and removed in one script"_s.arg(member);
}

QString wokenByMember(const LockSnapshot &snapshot, const Contender &holder)
{
    if (!isListed(holder.guard))
        return u"no client is notified; waiting clients poll and find a free slot"_s;
    return u"the first client that waits on the list, if any, by the push to %1"_s.arg(
        escaped(redis::GrabbedKeys(snapshot.lock.name).available()));
}

QString nobodyWoken(const LockSnapshot &, const Contender &)
{
    return u"no client is notified; waiting clients poll and find it free"_s;
}

// By the name's own clients, as far as it has any; see planWakeUps.
QString wokenByKey(const LockSnapshot &snapshot, const Contender &holder)
{
    if (const auto fit = recipes::wakingRule(snapshot.lock.name))
        return wokenByRule(*fit);
    const auto wakes = wakesOf(snapshot, holder);
    const auto &traits = snapshot.clientTraits;
    QStringList who;
    if (!wakes.list.isEmpty())
        who << (traits.waitsOnList ? u"the first of python-redis-lock's waiters, by the push to %1"_s
                                   : u"python-redis-lock's clients, if any wait, by the push to %1"_s)
                   .arg(escaped(wakes.list));
    if (traits.waitsOnChannel)
        who << u"Spring's waiters in pub/sub mode, by the publish (those that spin poll)"_s;
    else if (!wakes.channels.isEmpty())
        who << u"Spring's clients, if any wait in pub/sub mode, by the publish"_s;
    if (who.isEmpty())
        return u"no client is notified; waiting clients poll and find it free"_s;
    return who.join(u"; "_s) + clause(u"other clients poll"_s);
}

QString wokenByRedisson(const LockSnapshot &snapshot, const Contender &holder)
{
    const bool isReader = recipeOf(snapshot.recipe).readWrite && !holder.guard.redis().value.endsWith(":write");
    if (isReader && snapshot.holderCount() > 1)
        return u"no client: others hold it too, and Redisson publishes only when the last reader releases it"_s;
    if (snapshot.waiterCount() == 0 && snapshot.waitersKnown)
        return u"no client waits; the publish is still sent, for clients that arrive in the meantime"_s;
    return u"the waiting clients, by the publish (clients of a spin lock poll); a bare DEL would not wake them"_s;
}

Task<Result<Sent>> compareAndDelete(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const bool wakes = !plan.wakeUps.isEmpty();
    const auto &until = wakes && !plan.guard.redis().expiryMs ? plan.leaseEnds : plan.guard.redis().expiryMs;
    const auto expiry = until ? QByteArray::number(*until) : QByteArray();
    const auto script = redis::loadScript(wakes   ? "compare-and-delete-and-wake"
                                          : until ? "compare-and-delete-until"
                                                  : "compare-and-delete");
    QByteArrayList arguments{plan.guard.redis().value};
    if (wakes)
        arguments << recipes::signalArguments(plan.wakeUps, expiry);
    else if (until)
        arguments << expiry;
    auto reply = connection->script(script, {plan.before.lock.name}, arguments, deadline);
    const auto answer = co_await reply;
    co_return sentAndWoken(plan, answer, u"the key holds another value, or expires at another time"_s);
}

// What came of it on the nodes of a set.
struct Tally {
    int nodes = 0;
    int deleted = 0;
    int gone = 0;       // no key there
    int others = 0;     // another value there
    int unknown = 0;    // sent, and no answer
    QStringList failed; // "10.0.3.7:6379: not connected"
};

void count(Tally &tally, const QString &node, const Result<redis::Value> &answer)
{
    if (answer) {
        ++(answer->integer == 1 ? tally.deleted : answer->integer < 0 ? tally.gone : tally.others);
        return;
    }
    tally.unknown += answer.error().code == ErrorCode::UnknownOutcome ? 1 : 0;
    tally.failed << u"%1: %2"_s.arg(node, answer.error().message);
}

Result<Sent> outcomeOfTally(const ForceReleasePlan &plan, const Tally &tally, const std::optional<Error> &failure)
{
    const auto failures = tally.failed.isEmpty() ? QString() : u" (%1)"_s.arg(tally.failed.join(u"; "_s));
    // A majority that did not answer may still hold it, whatever the others say when they are read again.
    const int silent = tally.nodes - tally.deleted - tally.gone - tally.others;
    if (silent >= recipes::quorumOf(tally.nodes) && tally.deleted > 0)
        return Error{
            ErrorCode::Server,
            u"deleted on %1 of %2 nodes, but %3 did not respond%4; a majority may still hold it. Try again when "
            u"they do"_s.arg(tally.deleted)
                .arg(tally.nodes)
                .arg(silent)
                .arg(failures)};
    if (tally.deleted > 0) {
        const auto where = u"on %1 of %2 nodes"_s.arg(tally.deleted).arg(tally.nodes);
        return Sent{0,
                    (tally.gone > 0 ? u"%1, already deleted on %2"_s.arg(where).arg(tally.gone) : where) + failures};
    }
    if (tally.unknown > 0)
        return Error{ErrorCode::UnknownOutcome, tally.failed.join(u"; "_s)};
    if (failure)
        return *failure;
    return tally.others > 0 ? changedMeanwhile(plan, u"the nodes now hold other values"_s) : goneAlready(plan);
}

// A node that does not answer must not keep the operator waiting: the others count.
constexpr std::chrono::seconds nodeWithin(3);

Deadline soonOf(redis::Connection &node, Deadline deadline)
{
    return Deadline::at(std::min<Instant>(deadline.when(), node.loop().now() + nodeWithin));
}

Task<Result<Sent>> refusedSet(ForceReleasePlan plan)
{
    co_return changedMeanwhile(plan, u"the connection no longer leads to the same set of nodes"_s);
}

Task<Result<Sent>> deleteOnAll(ForceReleasePlan plan, std::vector<redis::Connection *> nodes, Deadline deadline)
{
    if (nodes.empty() || nodes.size() != plan.before.nodes.size())
        co_return changedMeanwhile(plan, u"the connection no longer leads to the same set of nodes"_s);
    const auto script = redis::loadScript("compare-and-delete");
    const auto limit = soonOf(*nodes.front(), deadline);
    const auto replies = mapped<std::vector<Reply<redis::Value>>>(nodes, [&](auto *node) {
        return node->script(script, {plan.before.lock.name}, {plan.guard.redis().value}, limit);
    });
    Tally tally;
    tally.nodes = static_cast<int>(nodes.size());
    std::optional<Error> failure;
    for (std::size_t i = 0; i < replies.size(); ++i) {
        const auto answer = co_await replies[i];
        count(tally, plan.before.nodes[i].node, answer);
        if (!answer)
            failure = answer.error();
    }
    co_return outcomeOfTally(plan, tally, failure);
}

Task<Result<Sent>> releaseRedisson(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const redis::RedissonKeys names(plan.before.lock.name);
    const bool isOfGroup = !plan.guard.redis().counterpart.isEmpty();
    const auto script = redis::loadScript(isOfGroup ? "redisson-group-release" : "redisson-force-release");
    const QByteArrayList groupKeys{plan.before.lock.name, names.channel()};
    const QByteArrayList lockKeys{plan.before.lock.name, names.channel(), names.readWriteChannel(), names.fairQueue(),
                                  names.fairDeadlines()};
    const QByteArrayList groupArgs{plan.guard.redis().counterpart, plan.guard.redis().value};
    QByteArrayList lockArgs{plan.guard.redis().value, names.readerTimeoutPrefix()};
    if (plan.leaseEnds)
        lockArgs << QByteArray::number(*plan.leaseEnds);
    auto reply =
        connection->script(script, isOfGroup ? groupKeys : lockKeys, isOfGroup ? groupArgs : lockArgs, deadline);
    CO_TRY(const auto &answer, co_await reply);
    const qint64 outcome = answer.items.size() == 2 ? answer.items[0].integer : -2;
    if (outcome > 0)
        co_return Sent{answer.items[1].integer, {}};
    if (outcome == -1)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, outcome == 0    ? u"another client now holds it"_s
                                     : outcome == -3 ? leaseWrittenAnewText()
                                                     : u"it has fields that Redisson's lock does not have"_s);
}

Task<Result<Sent>> releasePermit(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("redisson-permit-release");
    const redis::RedissonKeys names(plan.before.lock.name);
    const QByteArrayList keys{plan.before.lock.name, names.permitDeadlines()};
    const QByteArrayList args{plan.guard.redis().value, names.semaphoreChannel()};
    CO_TRY(const auto &answer, co_await connection->script(script, keys, args, deadline));
    // One that ran out a moment ago comes back to the others all the same.
    if (answer.items.size() == 2 && answer.items[0].integer >= 0)
        co_return Sent{answer.items[1].integer, {}};
    co_return goneAlready(plan);
}

Task<Result<Sent>> giveMemberBack(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    QByteArrayList keys{plan.before.lock.name};
    QByteArrayList arguments{plan.guard.redis().value};
    if (isListed(plan.guard)) {
        keys << redis::GrabbedKeys(plan.before.lock.name).available();
        arguments << plan.guard.redis().counterpart;
    } else {
        arguments << QByteArray(plan.before.clientTraits.exclusiveMark);
    }
    CO_TRY(const auto &answer,
           co_await connection->script(redis::loadScript("member-back"), keys, arguments, deadline));
    if (answer.integer == 1)
        co_return Sent{};
    if (answer.integer < 0)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, u"another client now has this permit"_s);
}

} // namespace

std::vector<ReleaseMethod> releaseMethodsOfRedis()
{
    const auto planKey = [](ForceReleasePlan &plan, const Contender &holder) {
        planCompareAndDelete(plan, holder);
        planRisk(plan, holder);
        planReturn(plan, holder);
    };
    const auto planSet = [](ForceReleasePlan &plan, const Contender &holder) {
        planQuorumDelete(plan, holder);
        planRisk(plan, holder);
        planReturn(plan, holder);
    };
    // An empty value is one, too; a holder that nobody may take away has none at all.
    const auto isIdentified = [](const Contender &holder) { return !holder.guard.redis().value.isNull(); };
    return {{ReleaseMechanism::CompareAndDelete, planKey, &wokenByKey, isIdentified},
            {ReleaseMechanism::QuorumDelete, planSet, &nobodyWoken},
            {ReleaseMechanism::RedissonUnlock, &planRedisson, &wokenByRedisson},
            {ReleaseMechanism::RedissonPermit, &planPermit, &wokenByRedisson},
            {ReleaseMechanism::MemberBack, &planMemberBack, &wokenByMember},
            {ReleaseMechanism::ByRule, &planByRule, &wokenByItsRule}};
}

Task<Result<Sent>> sendRelease(ForceReleasePlan plan, std::vector<redis::Connection *> nodes, Deadline deadline)
{
    if (plan.way != ReleaseAction::Release)
        return sendAlternative(std::move(plan), std::move(nodes), deadline);
    const auto way = releaseWay(plan.before);
    if (plan.onNode) {
        if (nodes.size() != plan.before.nodes.size())
            return refusedSet(plan);
        nodes = {nodes[plan.onNode->at]};
        deadline = soonOf(*nodes.front(), deadline);
    }
    switch (way ? *way : ReleaseMechanism::None) {
    case ReleaseMechanism::QuorumDelete: return deleteOnAll(plan, nodes, deadline);
    case ReleaseMechanism::RedissonUnlock: return releaseRedisson(plan, nodes.front(), deadline);
    case ReleaseMechanism::RedissonPermit: return releasePermit(plan, nodes.front(), deadline);
    case ReleaseMechanism::MemberBack: return giveMemberBack(plan, nodes.front(), deadline);
    case ReleaseMechanism::ByRule: return releaseByRule(plan, nodes.front(), deadline);
    case ReleaseMechanism::CompareAndDelete: return compareAndDelete(plan, nodes.front(), deadline);
    default: return nothingSent(plan);
    }
}

} // namespace lockscope::operate
