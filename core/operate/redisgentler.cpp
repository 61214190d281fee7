// SPDX-License-Identifier: Apache-2.0
// Letting a lease end sooner, and taking one waiter's place in a fair lock's queue away.
#include "core/base/text.h"
#include "core/operate/gentler.h"
#include "core/operate/redisrelease.h"
#include "core/redis/client.h"
#include "core/rules/catalogue.h"
#include "core/rules/redissonkeys.h"

namespace lockscope::operate {

using namespace Qt::StringLiterals;
using inspect::Contender;
using inspect::LockSnapshot;
using recipes::recipeOf;

namespace {

bool isRedissons(const LockSnapshot &snapshot)
{
    return recipeOf(snapshot.recipe).release == recipes::ReleaseWay::RedissonUnlock;
}

QString secondsOf(std::chrono::milliseconds span)
{
    return u"%1 s"_s.arg(span.count() / 1000);
}

// Not where the TTL is not what ends it, where it is part of the holder's id, where it is told apart by nothing,
// and not where a queue's own times are reckoned from it (Redisson's fair lock).
bool canShorten(const LockSnapshot &snapshot, const Contender &holder)
{
    const auto &recipe = recipeOf(snapshot.recipe);
    const bool isLease = recipe.endsBy == recipes::EndsBy::Lease && !recipe.quorum && !recipe.lastingQueue;
    const bool isKnown = !holder.guard.value.isEmpty() && !holder.guard.comesAgain && !holder.guard.expiryMs
                         && holder.guard.group.isEmpty();
    const bool isByKey = recipe.release == recipes::ReleaseWay::CompareAndDelete || isRedissons(snapshot);
    const bool isAlone = snapshot.holderCount() == 1;
    const bool isLater = !holder.expiresAt || *holder.expiresAt - snapshot.observed > shortenedTo;
    return isLease && isKnown && isByKey && isAlone && isLater;
}

QString whatShorten(const LockSnapshot &, const Contender &)
{
    return u"let its lease end in %1, unless its holder renews it"_s.arg(secondsOf(shortenedTo));
}

void planShorten(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.value);
    const auto ms = QString::number(shortenedTo.count());
    plan.act = u"Let its lease end in %1"_s.arg(secondsOf(shortenedTo));
    if (isRedissons(plan.before)) {
        const redis::RedissonKeys keys(plan.before.lock.name);
        const bool isReadWrite = recipeOf(plan.before.recipe).readWrite;
        plan.commands << u"EVALSHA redisson-shorten 3 %1 … %2 %3"_s.arg(key, value, ms)
                      << u"in the script: PEXPIRE %1 %2%3, PUBLISH %4"_s.arg(
                             key, ms, isReadWrite ? u" (and of a reader's own keys)"_s : QString(),
                             escaped(isReadWrite ? keys.readWriteChannel() : keys.channel()));
        plan.guardText =
            u"the hash must still have the field %1 and no other holder's; checked and done in one script"_s.arg(
                value);
        plan.wakes = u"clients that wait, to learn the new TTL; they sleep again until then"_s;
    } else {
        plan.commands << u"EVALSHA shorten-lease 1 %1 %2 %3"_s.arg(key, value, ms)
                      << u"in the script: PEXPIRE %1 %2, only if GET %1 is %3 and PTTL %1 is more"_s.arg(key, ms,
                                                                                                         value);
        plan.guardText = u"the key must still hold %1; compared and done in one script"_s.arg(value);
        plan.wakes = u"nobody"_s;
    }
    plan.guardText += u"; never makes it longer"_s;
    plan.who = plan.nextHolder ? u"%1, when it has ended"_s.arg(label(*plan.nextHolder, 80))
               : plan.before.waitersKnown && plan.before.waiterCount() == 0
                   ? u"nobody waits: it is free when it has ended"_s
                   : u"whoever asks first when it has ended"_s;
    plan.alsoLost = u"nothing"_s;
    plan.warnings
        << u"a client that renews its lease (a watchdog) prolongs it again, at its next turn: then it lives, "
           u"and nothing is gained"_s
        << u"a client that renews it more seldom, or never, may lose the lock while it works: it is not told, "
           u"and a resource is safe from it only if it checks a fencing token"_s;
}

bool canLeaveQueue(const LockSnapshot &snapshot, const Contender &waiter)
{
    return isRedissons(snapshot) && recipeOf(snapshot.recipe).lastingQueue && !waiter.guard.value.isEmpty();
}

QString whatLeaveQueue(const LockSnapshot &, const Contender &waiter)
{
    return u"take the waiter %1 out of the queue: its entry is removed"_s.arg(label(waiter.id, 80));
}

void planLeaveQueue(ForceReleasePlan &plan, const Contender &waiter)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto who = escaped(waiter.guard.value);
    plan.act = u"Remove the waiter's queue entry"_s;
    plan.commands << u"EVALSHA redisson-fair-leave 3 %1 … %2 0"_s.arg(escaped(plan.before.lock.name), who)
                  << u"in the script: LREM %1 0 %2, ZREM %3 %2"_s.arg(escaped(keys.fairQueue()), who,
                                                                      escaped(keys.fairDeadlines()));
    plan.guardText = u"it must still stand in the queue, where no holder stands; looked and done in one script"_s;
    plan.wakes = u"the next in the queue, should the lock be free"_s;
    plan.who = u"nobody: the lock stays where it is"_s;
    plan.alsoLost = u"its place"_s;
    plan.warnings
        << u"its client is not told: if it still waits, it queues again, at the end, the next time it asks"_s;
}

Task<Result<Sent>> shorten(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const bool isHash = isRedissons(plan.before);
    const auto ms = QByteArray::number(qint64(shortenedTo.count()));
    const redis::RedissonKeys names(plan.before.lock.name);
    const auto script = redis::loadScript(isHash ? "redisson-shorten" : "shorten-lease");
    QByteArrayList keys{plan.before.lock.name};
    QByteArrayList arguments{plan.guard.value, ms};
    if (isHash) {
        keys << names.channel() << names.readWriteChannel();
        arguments << names.readerTimeoutPrefix();
    }
    auto reply = connection->script(script, keys, arguments, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    const bool isPair = answer->items.size() == 2;
    const qint64 outcome = isPair ? answer->items[0].integer : answer->integer;
    if (outcome == 1)
        co_return Sent{isPair ? answer->items[1].integer : 0, {}};
    if (outcome == -1)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, outcome == 2    ? u"it ends as soon by itself"_s
                                     : outcome == -2 ? u"others hold it, too, and its TTL is theirs as well"_s
                                                     : u"another holds it now"_s);
}

Task<Result<Sent>> leaveQueue(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const redis::RedissonKeys names(plan.before.lock.name);
    const auto script = redis::loadScript("redisson-fair-leave");
    const QByteArrayList keys{plan.before.lock.name, names.fairQueue(), names.fairDeadlines()};
    // How long its client gives a waiter is not known: the moments of the others stay as they are.
    const QByteArrayList arguments{plan.guard.value, "0", names.channel()};
    auto reply = connection->script(script, keys, arguments, deadline);
    const auto answer = co_await reply;
    if (!answer)
        co_return answer.error();
    if (answer->integer == 1)
        co_return Sent();
    co_return goneAlready(plan);
}

} // namespace

std::vector<GentlerMethod> gentlerMethodsOfRedis()
{
    return {{Way::ShortenTtl, &canShorten, &whatShorten, &planShorten},
            {Way::KillWaiter, &canLeaveQueue, &whatLeaveQueue, &planLeaveQueue}};
}

Task<Result<Sent>> sendGentler(ForceReleasePlan plan, std::vector<redis::Connection *> nodes, Deadline deadline)
{
    switch (nodes.empty() ? Way::Release : plan.way) {
    case Way::ShortenTtl: return shorten(std::move(plan), nodes.front(), deadline);
    case Way::KillWaiter: return leaveQueue(std::move(plan), nodes.front(), deadline);
    default: return nothingSent(std::move(plan));
    }
}

} // namespace lockscope::operate
