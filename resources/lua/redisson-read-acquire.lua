-- SPDX-License-Identifier: Apache-2.0
-- Redisson's read/write lock, taken for reading. KEYS: lock.
-- ARGV: holder, lease in milliseconds, what a reader's timeout keys begin with, before the holder.
-- {1, times held} when we read now, else {0, how long its lease still runs}.
local lock, me, lease = KEYS[1], ARGV[1], tonumber(ARGV[2])
local mode = redis.call('HGET', lock, 'mode')
local mayRead = mode == 'read' or (mode == 'write' and redis.call('HEXISTS', lock, me .. ':write') == 1)
if not mode and redis.call('EXISTS', lock) == 0 then
  redis.call('HSET', lock, 'mode', 'read')
elseif not mayRead then
  return {0, redis.call('PTTL', lock)}
end
-- Each read hold has a key of its own, so that a reader's share can end alone.
local count = redis.call('HINCRBY', lock, me, 1)
redis.call('SET', ARGV[3] .. me .. ':rwlock_timeout:' .. count, '1', 'PX', lease)
redis.call('PEXPIRE', lock, math.max(redis.call('PTTL', lock), lease))
return {1, count}
