// SPDX-License-Identifier: Apache-2.0
// One Redisson recipe as plain values: which script does what, for one holder. What waits, retries and
// cleans up is the same for all of them (scriptlock.h), also when the lock object is gone.
#pragma once

#include "core/base/random.h"
#include "core/recipes/redisson/process.h"

namespace lockscope::recipes {

struct ScriptCall {
    const char *script;
    QByteArrayList keys;
    QByteArrayList args;
};

struct ScriptSet {
    QByteArray id; // what stands for our hold: a hash's field, a permit
    // Answers {1, times held, fencing token if there is one} when it is ours, {0, milliseconds to wait
    // at most} when not, {-1, its own limit} when it has another limit than we think.
    ScriptCall enter;
    ScriptCall tryEnter; // leaves nothing when it fails
    // How many times we hold it: nil when we do not.
    redis::Command count;
    QByteArray tokenKey; // where the last fencing token stands; empty when there are none
    // Answers 1 when this was our last hold, 0 when it was not, -1 when we had none.
    ScriptCall leave;
    QByteArray latchPrefix; // of keys[1] of `leave`; empty when it needs none
    ScriptCall renew;       // answers 1 as long as it is ours
    std::optional<ScriptCall> leaveQueue;
    // Where the others are told how long we will wait; empty: for ever. Null where they are not.
    void (*setWait)(ScriptSet &scripts, std::optional<Duration> wait) = nullptr;
    ScriptCall takeAway; // all of our holds at once, if any
    QByteArray channel;
    ReleaseSubscription::Wakes wakes;
    bool isReentrant = true;
    bool isForOneHold = false; // another id every time
    bool isCounter = false;    // its key is a number, and it takes any number there for its own
};

[[nodiscard]] inline QByteArray inMilliseconds(std::chrono::milliseconds span)
{
    return QByteArray::number(qint64(span.count()));
}

// As long as Redisson's own request with its retries may take: so long is an unlock's answer kept.
inline constexpr std::chrono::milliseconds latchIsKept{13'500};

// Takes the hold of one field away at once, however often it counts.
[[nodiscard]] ScriptCall takeAwayField(const RedisKey &lock, const QByteArray &field);

// The recipes. `owner`: "<uuid>:<thread>". The algorithm of each stands in its .cpp.
[[nodiscard]] ScriptSet redissonLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonFencedLock(const RedisKey &lock, const QByteArray &owner,
                                           std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonFairLock(const RedisKey &lock, const QByteArray &owner,
                                         std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonReadLock(const RedisKey &lock, const QByteArray &owner,
                                         std::chrono::milliseconds lease);
[[nodiscard]] ScriptSet redissonWriteLock(const RedisKey &lock, const QByteArray &owner,
                                          std::chrono::milliseconds lease);
// `permit`: 16 bytes.
// How many permits a semaphore has, and whether one that is missing is made with as many.
struct Permits {
    int limit = 1;
    bool mayMake = true;
};
[[nodiscard]] ScriptSet redissonPermit(const RedisKey &semaphore, const QByteArray &permit, Permits permits,
                                       std::chrono::milliseconds lease);

} // namespace lockscope::recipes
