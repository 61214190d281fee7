-- SPDX-License-Identifier: Apache-2.0
-- Redisson's lock, given back once; when that was the last time, who waits hears of it.
-- KEYS: lock, latch. ARGV: holder, lease in milliseconds, channel, how long the latch is kept.
-- 1 it is free, 0 it is held still, -1 it was not this holder's. The latch keeps the answer, so that
-- the same request sent twice counts once.
local before = redis.call('GET', KEYS[2])
if before then
  return tonumber(before)
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return -1
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('SET', KEYS[2], '0', 'PX', ARGV[4])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[3], '0')
redis.call('SET', KEYS[2], '1', 'PX', ARGV[4])
return 1
