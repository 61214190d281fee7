// SPDX-License-Identifier: Apache-2.0
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
#include "core/recipes/redisson/scriptset.h"

#include "core/rules/redissonkeys.h"

#include <algorithm>

namespace lockscope::recipes {

using namespace std::chrono_literals;

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

} // namespace lockscope::recipes
