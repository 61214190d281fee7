// SPDX-License-Identifier: Apache-2.0
// Redisson's RLock and RFencedLock. Source: Redisson's scripts and its threads' waiting (docs/layouts.md,
// "Redisson").
// The lock is a hash with a lease: the field "<uuid>:<thread>" of its holder, and how often it holds it.
//   1. One script: if there is no hash, or it has our field, add one to our field and start the lease
//      again; it is ours. (RFencedLock: and count its token up.) Else the lease's rest is the answer.
//   2. Not ours: subscribe to the lock's channel, one subscription for all who wait in this process.
//   3. When the subscription stands, go to 1: a release may have come in between.
//   4. Wait for a message, but not longer than the rest of the lease that 1 answered; go to 1.
//   5. While it is held, start the lease again at every third of it, if our field is still there.
//   6. To release, one script: take one from our field; at zero delete the hash and publish "0". The
//      script keeps its answer in a latch key, so that it can be sent again when the answer was lost;
//      the latch is deleted when it was heard.
//
// The reply to 1 lost: look how often we hold it. A message wakes one waiter of each process. Not fair.
#include "core/recipes/redisson/scriptlock.h"

#include "core/rules/turn.h"

#include <climits>

namespace lockscope::recipes {

namespace {

int wakesOne(const QByteArray & /*payload*/)
{
    return 1;
}

} // namespace

ScriptSet redissonLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    const redis::RedissonKeys names(lock.bytes());
    const QByteArray ttl = inMilliseconds(lease);
    ScriptSet scripts;
    scripts.id = owner;
    scripts.enter = {"redisson-acquire", {lock.bytes()}, {owner, ttl}}; // 1
    scripts.tryEnter = scripts.enter;
    scripts.count = {"HGET", lock.bytes(), owner};
    scripts.channel = names.channel(); // 2–4
    scripts.wakes = wakesOne;
    scripts.renew = {"redisson-renew", {lock.bytes()}, {owner, ttl}}; // 5
    scripts.latchPrefix = names.unlockLatch({});
    scripts.leave = {"redisson-release",
                     {lock.bytes(), {}}, // 6
                     {owner, ttl, scripts.channel, inMilliseconds(latchIsKept)}};
    scripts.takeAway = takeAwayField(lock, owner);
    return scripts;
}

ScriptSet redissonFencedLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    ScriptSet scripts = redissonLock(lock, owner, lease);
    scripts.tokenKey = redis::RedissonKeys(lock.bytes()).fencingToken();
    scripts.enter.keys << scripts.tokenKey;
    scripts.tryEnter = scripts.enter;
    return scripts;
}

ScriptCall takeAwayField(const RedisKey &lock, const QByteArray &field)
{
    const redis::RedissonKeys names(lock.bytes());
    return {"redisson-force-release",
            {lock.bytes(), names.channel(), names.readWriteChannel(), names.fairQueue(), names.fairDeadlines()},
            {field, names.readerTimeoutPrefix()}};
}

// Redisson's RReadWriteLock. Source: Redisson's scripts (docs/layouts.md). A hash with a lease: "mode",
// and a field per holder, "<uuid>:<thread>" of a reader, with ":write" behind it of the writer. Each hold
// of a reader has a key of its own with its lease, so that one reader's share can end alone.
//   1. To read, one script: nobody holds it, or readers do, or we write ourselves: add one to our field,
//      make the key of this hold, and let the hash live as long as its longest reader.
//   2. To write, one script: nobody holds it, or we write already: add one to our field.
//   3. Not ours: subscribe, try again and wait, as for the RLock; the channel is one of its own.
//   4. While it is held, start the lease again at every third of it; a reader only that of its own holds.
//   5. A reader's release: take one from our field and delete the key of that hold. The last reader
//      deletes the hash and publishes "0", which wakes one waiter of each process.
//   6. A writer's release: take one from our field. At zero delete the hash and publish "1", which
//      wakes all of them; if we read as well, the mode becomes "read", and nobody is told.
//
// A writer may begin to read; a reader that begins to write waits for itself. Readers that keep coming
// keep a writer out. The reply lost, the latch: as for the RLock.
namespace {

int wakesAllAfterWriter(const QByteArray &payload)
{
    return payload == "1" ? INT_MAX : 1;
}

ScriptSet scriptsOf(const RedisKey &lock, const QByteArray &field)
{
    const redis::RedissonKeys names(lock.bytes());
    ScriptSet scripts;
    scripts.id = field;
    scripts.count = {"HGET", lock.bytes(), field};
    scripts.channel = names.readWriteChannel(); // 3
    scripts.wakes = wakesAllAfterWriter;
    scripts.latchPrefix = names.unlockLatch({});
    scripts.takeAway = takeAwayField(lock, field);
    return scripts;
}

} // namespace

ScriptSet redissonReadLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    const QByteArray ttl = inMilliseconds(lease);
    const QByteArray prefix = redis::RedissonKeys(lock.bytes()).readerTimeoutPrefix();
    ScriptSet scripts = scriptsOf(lock, owner);
    scripts.enter = {"redisson-read-acquire", {lock.bytes()}, {owner, ttl, prefix}}; // 1
    scripts.tryEnter = scripts.enter;
    scripts.renew = {"redisson-read-renew", {lock.bytes()}, {owner, ttl, prefix}}; // 4
    scripts.leave = {"redisson-read-release",
                     {lock.bytes(), {}}, // 5
                     {owner, prefix, scripts.channel, inMilliseconds(latchIsKept)}};
    return scripts;
}

ScriptSet redissonWriteLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    const QByteArray ttl = inMilliseconds(lease);
    const QByteArray field = owner + ":write";
    ScriptSet scripts = scriptsOf(lock, field);
    scripts.enter = {"redisson-write-acquire", {lock.bytes()}, {field, ttl}}; // 2
    scripts.tryEnter = scripts.enter;
    scripts.renew = {"redisson-renew", {lock.bytes()}, {field, ttl}}; // 4
    scripts.leave = {"redisson-write-release",
                     {lock.bytes(), {}}, // 6
                     {field, ttl, scripts.channel, inMilliseconds(latchIsKept)}};
    return scripts;
}

// Redisson's RFairLock. Source: Redisson's scripts (docs/layouts.md). The hash of its RLock, and beside
// it a list of those who wait, in order, and for each of them a moment until which the others let it go
// first (a sorted set). Neither of the two has a lease.
//   1. One script: drop whoever is at the head of the queue and past its moment. If there is no hash and
//      the queue is empty or we are at its head, the lock is ours, and everybody else's moment moves up.
//      If it is ours already, count it once more. Else stand at the end of the queue, if we do not yet.
//   2. Not ours: subscribe to a channel that is ours alone, and go to 1, as for the RLock.
//   3. Wait for a message, but not longer than the lease or than the moment of the head; go to 1.
//   4. To give up waiting, one script: leave the queue, and move everybody up who stood behind us. If
//      the lock is free and we were at the head, the next one hears of it.
//   5. To release, one script as for the RLock; it publishes "0" for the head of the queue alone.
namespace {

// Redisson's own, for who does not say how long it waits. Who does is given just that: at the head of the queue it
// keeps everybody else from a free lock for so long, should it die.
constexpr std::chrono::milliseconds waiterIsGiven = 300s;

void giveWaiter(ScriptSet &scripts, std::optional<Duration> wait)
{
    const auto given =
        inMilliseconds(wait ? std::max(std::chrono::ceil<std::chrono::milliseconds>(*wait), 1ms) : waiterIsGiven);
    scripts.enter.args[2] = given;
    scripts.leaveQueue->args[1] = given;
}

} // namespace

ScriptSet redissonFairLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    const redis::RedissonKeys names(lock.bytes());
    const QByteArray ttl = inMilliseconds(lease);
    const QByteArray given = inMilliseconds(waiterIsGiven);
    const QByteArrayList keys{lock.bytes(), names.fairQueue(), names.fairDeadlines()};
    ScriptSet scripts = redissonLock(lock, owner, lease);
    scripts.enter = {"redisson-fair-acquire", keys, {owner, ttl, given, "1"}}; // 1
    scripts.tryEnter = {"redisson-fair-acquire", keys, {owner, ttl, given, "0"}};
    scripts.channel = names.channel() + ':' + owner;                                     // 2, 3
    scripts.leaveQueue = {"redisson-fair-leave", keys, {owner, given, names.channel()}}; // 4
    scripts.leave = {"redisson-fair-release",                                            // 5
                     {lock.bytes(), {}, names.fairQueue(), names.fairDeadlines()},
                     {owner, ttl, names.channel(), inMilliseconds(latchIsKept)}};
    scripts.setWait = giveWaiter;
    return scripts;
}

// Redisson's RPermitExpirableSemaphore, whose permits are known one by one. Source: Redisson's scripts
// (docs/layouts.md, "Redisson"). A number, how many permits are left, and a sorted set of those that are out: 16
// bytes each, and the moment when it runs out.
//   1. One script: without a number there is a new semaphore, with as many permits as we think, if
//      somebody said so. Take back one permit that has run out. If one is left, take it: one less, and a
//      permit of ours that runs out when its lease ends. Else the time until the next one runs out is the
//      answer.
//   2. Not ours: subscribe, try again and wait, as for the RLock; the channel is one of its own.
//   3. While it is held, move its end at every third of the lease, if it has not come yet.
//   4. To release, one script: take our permit out, add one to the number and publish the number, which
//      lets as many waiters of each process try.
//
// The reply to 1 lost: look for our permit. The reply to 4 lost: send it again, a permit goes only once.
// Who believes in another number of permits is refused. The number stays when nobody holds a permit.
namespace {

int wakesAsManyAsAreLeft(const QByteArray &left)
{
    return std::max(1, left.toInt());
}

} // namespace

ScriptSet redissonPermit(const RedisKey &semaphore, const QByteArray &permit, Permits permits,
                         std::chrono::milliseconds lease)
{
    const redis::RedissonKeys names(semaphore.bytes());
    const QByteArray deadlines = names.permitDeadlines();
    const QByteArrayList keys{semaphore.bytes(), deadlines};
    const QByteArray ttl = inMilliseconds(lease);
    ScriptSet scripts;
    scripts.id = permit.toHex();                // as Redisson shows it
    scripts.channel = names.semaphoreChannel(); // 2
    scripts.wakes = wakesAsManyAsAreLeft;
    scripts.enter = {"redisson-permit-acquire",
                     keys, // 1
                     {permit, ttl, QByteArray::number(permits.limit), scripts.channel, permits.mayMake ? "1" : "0"}};
    scripts.tryEnter = scripts.enter;
    scripts.count = {"ZSCORE", deadlines, permit};
    scripts.renew = {"redisson-permit-renew", {deadlines}, {permit, ttl}};        // 3
    scripts.leave = {"redisson-permit-release", keys, {permit, scripts.channel}}; // 4
    scripts.takeAway = scripts.leave;
    scripts.isReentrant = false;
    scripts.isForOneHold = true;
    scripts.isCounter = true;
    return scripts;
}

} // namespace lockscope::recipes
