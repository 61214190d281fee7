// SPDX-License-Identifier: Apache-2.0
#include "core/operate/redis.h"

#include "core/base/text.h"
#include "core/operate/precheck.h"
#include "core/redis/client.h"
#include "core/rules/userrules.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using inspect::Role;
using recipes::recipeOf;

namespace {

// The release of a hash or a sorted set by a rule of the user's (docs/rules.md), and what wakes the clients of a key.

// What the script sends besides, where the name is one that clients of other makes sleep by, or a rule says how.
void planWakeUps(ForceReleasePlan &plan)
{
    const auto &wakes = plan.wakeUps;
    if (!wakes.list.isEmpty())
        plan.commands << u"and then: DEL %1, LPUSH %1 1, PEXPIRE %1 1000"_s.arg(escaped(wakes.list));
    for (const auto &channel : wakes.published())
        plan.commands << u"and then: PUBLISH %1 %2"_s.arg(escaped(channel), escaped(plan.before.lock.name));
}

// What came of a script of those that wake: 1 and one more for each that heard of it, 0 what `changed` says, -1 gone.
Result<Sent> sentAndWoken(const ForceReleasePlan &plan, const Result<redis::Value> &answer, const QString &changed)
{
    if (!answer)
        return answer.error();
    if (answer->integer >= 1)
        return Sent{answer->integer - 1, {}};
    if (answer->integer < 0)
        return goneAlready(plan);
    return changedMeanwhile(plan, changed);
}

// "who waits there, by a push to …": how the rule says it.
QString wokenByRule(const recipes::RuleFit &fit)
{
    QStringList how;
    if (!fit.rule->wakeList.isEmpty())
        how << u"a push to %1"_s.arg(escaped(fit.name(fit.rule->wakeList)));
    if (!fit.rule->wakeChannel.isEmpty())
        how << u"a publish on %1"_s.arg(escaped(fit.name(fit.rule->wakeChannel)));
    return sentence("woken-by-rule", {how.join(u" and "_s), fit.rule->name});
}

// Who hears of it: whom the rule names, and nobody else. What a name says of other clients' channels is for their
// keys, which are strings.
QString wokenByItsRule(const LockSnapshot &snapshot, const Contender &)
{
    const auto fit = recipes::wakingRule(snapshot.lock.name);
    return fit ? wokenByRule(*fit) : u"no client is notified; waiting clients poll"_s;
}

void planByRule(ForceReleasePlan &plan, const Contender &holder)
{
    if (recipes::wakingRule(plan.before.lock.name))
        plan.wakeUps = recipes::wakeSignalsOf(plan.before.lock.name);
    const auto &key = holder.guard.redis();
    addTexts(plan, key.counterpart.isEmpty() ? "by-rule-from-set" : "by-rule-from-hash",
             {escaped(plan.before.lock.name), escaped(key.value), escaped(key.counterpart)});
    planWakeUps(plan);
}

Task<Result<Sent>> releaseByRule(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto script = redis::loadScript("rule-release");
    QByteArrayList arguments{plan.guard.redis().counterpart, plan.guard.redis().value, plan.wakeUps.list};
    arguments << plan.wakeUps.published();
    auto reply = connection->script(script, {plan.before.lock.name}, arguments, deadline);
    const auto answer = co_await reply;
    co_return sentAndWoken(plan, answer, sentence("by-rule-changed"));
}

// What is at stake where the value is the same for every holder and nothing else tells them apart.
void planRisk(ForceReleasePlan &plan, const Contender &holder)
{
    if (!holder.guard.redis().comesAgain)
        return;
    const auto &recipe = recipeOf(plan.before.recipe);
    const bool isImprecise = holder.expiresAt && recipe.endsBy != recipes::EndsBy::Timestamp;
    addTexts(plan, "key-not-unique",
             {label(holder.guard.redis().value, 80), recipe.quorum ? u"its expiry time differs between the nodes"_s
                                                     : isImprecise ? sentence("key-expiry-imprecise")
                                                                   : u"the key has no expiry"_s});
    plan.exact = false;
    plan.warnings << plan.risk;
}

// A client that lives may undo it.
void planReturn(ForceReleasePlan &plan, const Contender &holder)
{
    plan.backWithin = returnWithin(plan.before, holder);
    if (plan.backWithin && plan.before.clientTraits.putsKeyBack)
        addTexts(plan, "key-put-back", {formatDuration(*plan.backWithin)});
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

void planCompareAndDelete(ForceReleasePlan &plan, const Contender &holder)
{
    plan.wakeUps = wakesOf(plan.before, holder);
    const auto expiry = holder.guard.redis().expiryMs;
    const auto script = !plan.wakeUps.isEmpty() ? u"compare-and-delete-and-wake"_s
                        : expiry                ? u"compare-and-delete-until"_s
                                                : u"compare-and-delete"_s;
    addTexts(plan, expiry ? "key-delete-until" : "key-delete",
             {script, escaped(plan.before.lock.name), shownValue(holder.guard.redis().value),
              QString::number(expiry.value_or(0))});
    planWakeUps(plan);
    if (expiry)
        addTexts(plan, "key-delete-until-shared");
    else if (!plan.wakeUps.isEmpty())
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
            addTexts(plan, "set-node-silent", {said.node});
    }
    addTexts(plan, "set-delete", {key, value});
    if (holder.role == Role::Holder)
        return;
    plan.guardText += clause(u"the value must still be on fewer nodes than a majority"_s);
    const auto &first = plan.before.contenders.front();
    addTexts(
        plan, "set-claim",
        {label(holder.id, 80), QString::number(votes), QString::number(plan.before.nodes.size()),
         first.role == Role::Holder ? u"%1 keeps the lock"_s.arg(label(first.id, 80)) : u"no client holds it"_s});
}

void planRedisson(ForceReleasePlan &plan, const Contender &holder)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto key = escaped(plan.before.lock.name);
    const auto field = escaped(holder.guard.redis().value);
    const auto channel = escaped(keys.channel());
    if (const auto &value = holder.guard.redis().counterpart; !value.isEmpty())
        return addTexts(plan, "redisson-group", {key, channel, escaped(value), field});
    addTexts(plan, "redisson-release", {key, field});
    const bool isWriter = holder.guard.redis().value.endsWith(":write");
    if (recipeOf(plan.before.recipe).readWrite)
        addTexts(plan, "redisson-release-shared",
                 {key, field, escaped(keys.readWriteChannel()), isWriter ? u"1"_s : u"0 when it was the last"_s});
    else
        addTexts(plan, "redisson-release-alone", {key, channel});
    planLease(plan, holder);
}

void planPermit(ForceReleasePlan &plan, const Contender &holder)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    addTexts(plan, "redisson-permit",
             {escaped(plan.before.lock.name), escaped(keys.permitDeadlines()), escaped(holder.guard.redis().value),
              escaped(keys.semaphoreChannel())});
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
        addTexts(plan, "listed-permit",
                 {key, escaped(redis::GrabbedKeys(plan.before.lock.name).available()), member,
                  escaped(holder.guard.redis().counterpart)});
        plan.warnings << plan.risk;
        plan.alternatives.prepend(sentence("listed-permit-first"));
        return;
    }
    const auto mark = QString::fromLatin1(plan.before.clientTraits.exclusiveMark);
    addTexts(plan, "member-back", {key, member, mark.isEmpty() ? u"\"\""_s : mark});
    addTexts(plan, mark.isEmpty() ? "member-unmarked" : "member-marked", {key, member, mark});
}

QString wokenByMember(const LockSnapshot &snapshot, const Contender &holder)
{
    return isListed(holder.guard)
               ? sentence("woken-from-list", {escaped(redis::GrabbedKeys(snapshot.lock.name).available())})
               : sentence("pollers-find-slot");
}

QString nobodyWoken(const LockSnapshot &, const Contender &)
{
    return sentence("pollers-find-free");
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
        who << sentence(traits.waitsOnList ? "woken-by-push" : "maybe-woken-by-push", {escaped(wakes.list)});
    if (traits.waitsOnChannel)
        who << u"Spring's waiters in pub/sub mode, by the publish (those that spin poll)"_s;
    else if (!wakes.channels.isEmpty())
        who << u"Spring's clients, if any wait in pub/sub mode, by the publish"_s;
    return who.isEmpty() ? sentence("pollers-find-free") : who.join(u"; "_s) + clause(u"other clients poll"_s);
}

QString wokenByRedisson(const LockSnapshot &snapshot, const Contender &holder)
{
    const bool isReader = recipeOf(snapshot.recipe).readWrite && !holder.guard.redis().value.endsWith(":write");
    return sentence(isReader && snapshot.holderCount() > 1                 ? "readers-left"
                    : snapshot.waiterCount() == 0 && snapshot.waitersKnown ? "published-unawaited"
                                                                           : "woken-by-publish");
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
        return Error{ErrorCode::Server,
                     sentence("set-half-deleted", {QString::number(tally.deleted), QString::number(tally.nodes),
                                                   QString::number(silent), failures})};
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
    co_return changedMeanwhile(plan, sentence("set-is-another"));
}

Task<Result<Sent>> deleteOnAll(ForceReleasePlan plan, std::vector<redis::Connection *> nodes, Deadline deadline)
{
    if (nodes.empty() || nodes.size() != plan.before.nodes.size())
        co_return changedMeanwhile(plan, sentence("set-is-another"));
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
                                                     : sentence("redisson-other-fields"));
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
        const bool isOfSet = recipeOf(plan.before.recipe).release == ReleaseMechanism::QuorumDelete;
        (isOfSet ? planQuorumDelete : planCompareAndDelete)(plan, holder);
        planRisk(plan, holder);
        planReturn(plan, holder);
    };
    // An empty value is one, too; a holder that nobody may take away has none at all.
    const auto isIdentified = [](const Contender &holder) { return !holder.guard.redis().value.isNull(); };
    return {{ReleaseMechanism::CompareAndDelete, planKey, &wokenByKey, isIdentified},
            {ReleaseMechanism::QuorumDelete, planKey, &nobodyWoken},
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
