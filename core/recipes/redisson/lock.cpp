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
#include "core/recipes/redisson/scriptset.h"

#include "core/rules/redissonkeys.h"

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

} // namespace lockscope::recipes
