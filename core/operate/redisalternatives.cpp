// SPDX-License-Identifier: Apache-2.0
// Letting a lease end sooner, and taking one waiter's place in a fair lock's queue away.
#include "core/base/text.h"
#include "core/operate/alternatives.h"
#include "core/operate/precheck.h"
#include "core/operate/redis.h"
#include "core/redis/client.h"
#include "core/rules/catalogue.h"
#include "core/rules/redissonkeys.h"

namespace lockscope::operate {

using inspect::Contender;
using inspect::LockSnapshot;
using recipes::recipeOf;

namespace {

bool isRedissons(const LockSnapshot &snapshot)
{
    return recipeOf(snapshot.recipe).release == recipes::ReleaseMechanism::RedissonUnlock;
}

QString secondsOf(std::chrono::milliseconds span)
{
    return u"%1 s"_s.arg(span.count() / 1000);
}

// Where a holder's end is written down, as far as it can be moved there by itself. Not where the TTL is part of the
// holder's id, where it is told apart by nothing, and not of Redisson's fair lock: who waits for it sleeps until a
// moment that it wrote down when it came.
enum class LeaseEnd { Unmovable, Key, Hash, Permit, Member };

LeaseEnd endOf(const LockSnapshot &snapshot, const Contender &holder)
{
    const auto &recipe = recipeOf(snapshot.recipe);
    const bool isKnown = !holder.guard.redis().value.isEmpty() && !holder.guard.redis().comesAgain
                         && !holder.guard.redis().expiryMs && holder.guard.redis().counterpart.isEmpty();
    if (!isKnown || recipe.quorum || recipe.lastingQueue)
        return LeaseEnd::Unmovable;
    if (recipe.release == recipes::ReleaseMechanism::RedissonPermit)
        return LeaseEnd::Permit;
    if (snapshot.clientTraits.exclusiveMark)
        return LeaseEnd::Member;
    if (recipe.endsBy != recipes::EndsBy::Lease || snapshot.holderCount() != 1)
        return LeaseEnd::Unmovable;
    return isRedissons(snapshot)                                           ? LeaseEnd::Hash
           : recipe.release == recipes::ReleaseMechanism::CompareAndDelete ? LeaseEnd::Key
                                                                           : LeaseEnd::Unmovable;
}

bool canShorten(const LockSnapshot &snapshot, const Contender &holder)
{
    const bool isLater = !holder.expiresAt || *holder.expiresAt - snapshot.observed > shortenedTo;
    return isLater && endOf(snapshot, holder) != LeaseEnd::Unmovable;
}

QString whatShorten(const LockSnapshot &, const Contender &)
{
    return u"shorten its lease to %1, unless its holder renews it"_s.arg(secondsOf(shortenedTo));
}

void planShorten(ForceReleasePlan &plan, const Contender &holder)
{
    const auto key = escaped(plan.before.lock.name);
    const auto value = escaped(holder.guard.redis().value);
    const auto ms = QString::number(shortenedTo.count());
    const redis::RedissonKeys keys(plan.before.lock.name);
    plan.act = u"Let its lease end in %1"_s.arg(secondsOf(shortenedTo));
    plan.wakes = u"no client"_s;
    plan.alsoLost = u"nothing"_s;
    switch (endOf(plan.before, holder)) {
    case LeaseEnd::Hash: {
        const bool isReadWrite = recipeOf(plan.before.recipe).readWrite;
        plan.commands << u"EVALSHA redisson-shorten 3 %1 … %2 %3"_s.arg(key, value, ms)
                      << (isReadWrite ? u"in the script: PEXPIRE %1 %2 (and of a reader's own keys), PUBLISH %3"_s
                                      : u"in the script: PEXPIRE %1 %2, PUBLISH %3"_s)
                             .arg(key, ms, escaped(isReadWrite ? keys.readWriteChannel() : keys.channel()));
        plan.guardText =
            u"the hash must still have the field %1 and no other holder's; checked and changed in one script"_s.arg(
                value);
        plan.wakes = u"the waiting clients, so that they read the new TTL; they sleep again until then"_s;
        break;
    }
    case LeaseEnd::Permit: {
        const auto deadlines = escaped(keys.permitDeadlines());
        plan.commands << u"EVALSHA redisson-permit-shorten 1 %1 %2 %3 …"_s.arg(deadlines, value, ms)
                      << u"in the script: ZADD %1 <now + %2> %3, PUBLISH %4 1"_s.arg(
                             deadlines, ms, value, escaped(keys.semaphoreChannel()));
        plan.guardText = u"the permit must still be held, and for longer; checked and changed in one script"_s;
        plan.wakes =
            u"one waiter of each process, so that it reads the new expiry time; it sleeps again until then"_s;
        break;
    }
    case LeaseEnd::Member:
        plan.commands << u"EVALSHA shorten-member 1 %1 %2 %3 …"_s.arg(key, value, ms)
                      << u"in the script: ZADD %1 <now + %2> %3 (and %4, if it is a member), PEXPIREAT %1 <the last "
                         u"member's end>"_s.arg(key, ms, value,
                                                QString::fromLatin1(plan.before.clientTraits.exclusiveMark));
        plan.guardText = u"it must still be a member of %1; checked and changed in one script"_s.arg(key);
        break;
    default:
        plan.commands << u"EVALSHA shorten-lease 1 %1 %2 %3"_s.arg(key, value, ms)
                      << u"in the script: PEXPIRE %1 %2, only if GET %1 is %3 and PTTL %1 is more"_s.arg(key, ms,
                                                                                                         value);
        plan.guardText = u"the key must still hold %1; compared and changed in one script"_s.arg(value);
    }
    plan.guardText += clause(u"the lease never becomes longer"_s);
    if (leaseEndOf(plan.before, holder))
        plan.guardText += leaseGuardText();
    plan.who = plan.nextHolder ? u"%1, when the lease has ended"_s.arg(label(*plan.nextHolder, 80))
               : plan.before.waitersKnown && plan.before.waiterCount() == 0
                   ? u"no client waits; the lock is free when the lease has ended"_s
                   : u"the first client that asks when the lease has ended"_s;
    plan.warnings
        << u"a client that renews its lease (a watchdog) extends it again at its next renewal. In that case the "
           u"client still runs, and this has no effect"_s
        << u"a client that renews less often, or never, may lose the lock while it works. It is not notified, and "
           u"a resource is protected only if it checks fencing tokens"_s;
}

bool canLeaveQueue(const LockSnapshot &snapshot, const Contender &waiter)
{
    return isRedissons(snapshot) && recipeOf(snapshot.recipe).lastingQueue && !waiter.guard.redis().value.isEmpty();
}

QString whatLeaveQueue(const LockSnapshot &, const Contender &waiter)
{
    return u"remove the waiter %1 from the queue by removing its entry"_s.arg(label(waiter.id, 80));
}

void planLeaveQueue(ForceReleasePlan &plan, const Contender &waiter)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    const auto who = escaped(waiter.guard.redis().value);
    plan.act = u"Remove the waiter's queue entry"_s;
    plan.commands << u"EVALSHA redisson-fair-leave 3 %1 … %2 0"_s.arg(escaped(plan.before.lock.name), who)
                  << u"in the script: LREM %1 0 %2, ZREM %3 %2"_s.arg(escaped(keys.fairQueue()), who,
                                                                      escaped(keys.fairDeadlines()));
    plan.guardText = u"it must still be in the queue, which never lists holders; checked and removed in one script"_s;
    plan.wakes = u"the next in the queue, if the lock is free"_s;
    plan.who = u"no new holder; the lock stays with its current holder"_s;
    plan.alsoLost = u"its place in the queue"_s;
    plan.warnings
        << u"its client is not notified. If it still waits, it joins the end of the queue at its next attempt"_s;
}

// Of what a script answers beside 1 and -1.
QString shorteningError(qint64 outcome)
{
    switch (outcome) {
    case 2: return u"its lease already ends by then"_s;
    case -2: return u"other clients hold it, too, and share its TTL"_s;
    case -3: return leaseWrittenAnewText();
    default: return u"another client now holds it"_s;
    }
}

Task<Result<Sent>> shorten(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const auto ms = QByteArray::number(qint64(shortenedTo.count()));
    const auto leaseEnds = plan.leaseEnds ? QByteArray::number(*plan.leaseEnds) : QByteArray();
    const redis::RedissonKeys names(plan.before.lock.name);
    const char *script = "shorten-lease";
    QByteArrayList keys{plan.before.lock.name};
    QByteArrayList arguments{plan.guard.redis().value, ms};
    const auto *holder = plan.before.find(plan.holder);
    switch (holder ? endOf(plan.before, *holder) : LeaseEnd::Unmovable) {
    case LeaseEnd::Unmovable: {
        const auto none = co_await nothingSent(plan);
        co_return none;
    }
    case LeaseEnd::Key: arguments << leaseEnds; break;
    case LeaseEnd::Hash:
        script = "redisson-shorten";
        keys << names.channel() << names.readWriteChannel();
        arguments << names.readerTimeoutPrefix() << leaseEnds;
        break;
    case LeaseEnd::Permit:
        script = "redisson-permit-shorten";
        keys = {names.permitDeadlines()};
        arguments << names.semaphoreChannel();
        break;
    case LeaseEnd::Member: script = "shorten-member"; arguments << plan.before.clientTraits.exclusiveMark;
    }
    CO_TRY(const auto &answer, co_await connection->script(redis::loadScript(script), keys, arguments, deadline));
    const bool isPair = answer.items.size() == 2;
    const qint64 outcome = isPair ? answer.items[0].integer : answer.integer;
    if (outcome == 1)
        co_return Sent{isPair ? answer.items[1].integer : 0, {}};
    if (outcome == -1)
        co_return goneAlready(plan);
    co_return changedMeanwhile(plan, shorteningError(outcome));
}

Task<Result<Sent>> leaveQueue(ForceReleasePlan plan, redis::Connection *connection, Deadline deadline)
{
    const redis::RedissonKeys names(plan.before.lock.name);
    const auto script = redis::loadScript("redisson-fair-leave");
    const QByteArrayList keys{plan.before.lock.name, names.fairQueue(), names.fairDeadlines()};
    // How long its client gives a waiter is not known: the moments of the others stay as they are.
    const QByteArrayList arguments{plan.guard.redis().value, "0", names.channel()};
    CO_TRY(const auto &answer, co_await connection->script(script, keys, arguments, deadline));
    if (answer.integer == 1)
        co_return Sent();
    co_return goneAlready(plan);
}

} // namespace

std::vector<AlternativeMethod> alternativeMethodsOfRedis()
{
    return {{ReleaseAction::ShortenTtl, &canShorten, &whatShorten, &planShorten},
            {ReleaseAction::KillWaiter, &canLeaveQueue, &whatLeaveQueue, &planLeaveQueue}};
}

Task<Result<Sent>> sendAlternative(ForceReleasePlan plan, std::vector<redis::Connection *> nodes, Deadline deadline)
{
    switch (nodes.empty() ? ReleaseAction::Release : plan.way) {
    case ReleaseAction::ShortenTtl: return shorten(std::move(plan), nodes.front(), deadline);
    case ReleaseAction::KillWaiter: return leaveQueue(std::move(plan), nodes.front(), deadline);
    default: return nothingSent(std::move(plan));
    }
}

} // namespace lockscope::operate
