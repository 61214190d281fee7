// SPDX-License-Identifier: Apache-2.0
// Letting a lease end sooner, and taking one waiter's place in a fair lock's queue away.
#include "core/base/text.h"
#include "core/operate/precheck.h"
#include "core/operate/redis.h"
#include "core/redis/client.h"

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
    const redis::RedissonKeys keys(plan.before.lock.name);
    const bool isReadWrite = recipeOf(plan.before.recipe).readWrite;
    const QStringList values{escaped(plan.before.lock.name),
                             escaped(holder.guard.redis().value),
                             QString::number(shortenedTo.count()),
                             secondsOf(shortenedTo),
                             escaped(keys.permitDeadlines()),
                             escaped(keys.semaphoreChannel()),
                             QString::fromLatin1(plan.before.clientTraits.exclusiveMark)};
    addTexts(plan, "shorten", values);
    switch (endOf(plan.before, holder)) {
    case LeaseEnd::Hash:
        addTexts(plan, "shorten-hash", values);
        plan.commands << (isReadWrite ? u"in the script: PEXPIRE %1 %2 (and of a reader's own keys), PUBLISH %3"_s
                                      : u"in the script: PEXPIRE %1 %2, PUBLISH %3"_s)
                             .arg(values[0], values[2],
                                  escaped(isReadWrite ? keys.readWriteChannel() : keys.channel()));
        break;
    case LeaseEnd::Permit: addTexts(plan, "shorten-permit", values); break;
    case LeaseEnd::Member: addTexts(plan, "shorten-member", values); break;
    default: addTexts(plan, "shorten-key", values);
    }
    plan.guardText += clause(u"the lease never becomes longer"_s);
    if (leaseEndOf(plan.before, holder))
        plan.guardText += leaseGuardText();
    const bool isUnawaited = plan.before.waitersKnown && plan.before.waiterCount() == 0;
    plan.who = plan.nextHolder ? u"%1, when the lease has ended"_s.arg(label(*plan.nextHolder, 80))
               : isUnawaited   ? sentence("shortened-unawaited")
                               : u"the first client that asks when the lease has ended"_s;
}

bool canLeaveQueue(const LockSnapshot &snapshot, const Contender &waiter)
{
    return isRedissons(snapshot) && recipeOf(snapshot.recipe).lastingQueue && !waiter.guard.redis().value.isEmpty();
}

QString whatLeaveQueue(const LockSnapshot &, const Contender &waiter)
{
    return sentence("redisson-leave-queue", {label(waiter.id, 80)});
}

void planLeaveQueue(ForceReleasePlan &plan, const Contender &waiter)
{
    const redis::RedissonKeys keys(plan.before.lock.name);
    addTexts(plan, "redisson-leave-queue",
             {escaped(plan.before.lock.name), escaped(waiter.guard.redis().value), escaped(keys.fairQueue()),
              escaped(keys.fairDeadlines())});
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
