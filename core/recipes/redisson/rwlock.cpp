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
#include "core/recipes/redisson/moves.h"

#include "core/rules/redissonkeys.h"

#include <climits>

namespace lockscope::recipes {

namespace {

int wakesAllAfterWriter(const QByteArray &payload)
{
    return payload == "1" ? INT_MAX : 1;
}

Moves movesOf(const RedisKey &lock, const QByteArray &field)
{
    const redis::RedissonKeys names(lock.bytes());
    Moves moves;
    moves.id = field;
    moves.count = {"HGET", lock.bytes(), field};
    moves.channel = names.readWriteChannel();                                               // 3
    moves.wakes = wakesAllAfterWriter;
    moves.latchPrefix = names.unlockLatch({});
    moves.takeAway = takeAwayField(lock, field);
    return moves;
}

} // namespace

Moves redissonReadLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    const QByteArray ttl = inMilliseconds(lease);
    const QByteArray prefix = redis::RedissonKeys(lock.bytes()).readerTimeoutPrefix();
    Moves moves = movesOf(lock, owner);
    moves.enter = {"redisson-read-acquire", {lock.bytes()}, {owner, ttl, prefix}};          // 1
    moves.tryEnter = moves.enter;
    moves.renew = {"redisson-read-renew", {lock.bytes()}, {owner, ttl, prefix}};            // 4
    moves.leave = {"redisson-read-release", {lock.bytes(), {}},                             // 5
                   {owner, prefix, moves.channel, inMilliseconds(latchIsKept)}};
    return moves;
}

Moves redissonWriteLock(const RedisKey &lock, const QByteArray &owner, std::chrono::milliseconds lease)
{
    const QByteArray ttl = inMilliseconds(lease);
    const QByteArray field = owner + ":write";
    Moves moves = movesOf(lock, field);
    moves.enter = {"redisson-write-acquire", {lock.bytes()}, {field, ttl}};                 // 2
    moves.tryEnter = moves.enter;
    moves.renew = {"redisson-renew", {lock.bytes()}, {field, ttl}};                         // 4
    moves.leave = {"redisson-write-release", {lock.bytes(), {}},                            // 6
                   {field, ttl, moves.channel, inMilliseconds(latchIsKept)}};
    return moves;
}

} // namespace lockscope::recipes
