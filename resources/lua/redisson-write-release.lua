-- SPDX-License-Identifier: Apache-2.0
-- A writer's hold, given back once; when that was the last time, all who wait hear of it, unless the
-- same client goes on reading. KEYS: lock, latch. ARGV: holder (its field, which ends in ":write"),
-- lease in milliseconds, channel, how long the latch is kept.
-- 1 it is not written under any more, 0 it is still, -1 it was not this writer's. The latch keeps the
-- answer, so that the same request sent twice counts once.
local lock, latch, me = KEYS[1], KEYS[2], ARGV[1]

local before = redis.call('GET', latch)
if before then
  return tonumber(before)
end
if redis.call('HEXISTS', lock, 'mode') == 0 then
  redis.call('PUBLISH', ARGV[3], '1')
  redis.call('SET', latch, '1', 'PX', ARGV[4])
  return -1
end
if redis.call('HEXISTS', lock, me) == 0 then
  return -1
end
if redis.call('HINCRBY', lock, me, -1) > 0 then
  redis.call('PEXPIRE', lock, ARGV[2])
  redis.call('SET', latch, '0', 'PX', ARGV[4])
  return 0
end
redis.call('HDEL', lock, me)
if redis.call('HLEN', lock) == 1 then
  redis.call('DEL', lock)
  redis.call('PUBLISH', ARGV[3], '1')
else
  redis.call('HSET', lock, 'mode', 'read')
end
redis.call('SET', latch, '1', 'PX', ARGV[4])
return 1
