// SPDX-License-Identifier: Apache-2.0
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
#include "core/recipes/redisson/scriptset.h"

#include "core/rules/redissonkeys.h"

#include <climits>

namespace lockscope::recipes {

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

} // namespace lockscope::recipes
