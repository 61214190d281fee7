// SPDX-License-Identifier: Apache-2.0
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
#include "core/recipes/redisson/scriptset.h"

#include "core/rules/redissonkeys.h"

#include <algorithm>

namespace lockscope::recipes {

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
