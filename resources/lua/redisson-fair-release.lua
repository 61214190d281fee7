-- SPDX-License-Identifier: Apache-2.0
-- Redisson's fair lock, given back once; when that was the last time, the first of the queue hears of
-- it on a channel of its own. KEYS: lock, latch, queue, deadlines.
-- ARGV: holder, lease in milliseconds, channel without the waiter's name, how long the latch is kept.
-- 1 it is free, 0 it is held still, -1 it was not this holder's. The latch keeps the answer, so that
-- the same request sent twice counts once.
local lock, latch, queue, deadlines, me = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]

local before = redis.call('GET', latch)
if before then
  return tonumber(before)
end

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local head = redis.call('LINDEX', queue, 0)
while head and tonumber(redis.call('ZSCORE', deadlines, head) or 0) <= now do
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, head)
  head = redis.call('LINDEX', queue, 0)
end

local wasThere = redis.call('EXISTS', lock) == 1
if wasThere then
  if redis.call('HEXISTS', lock, me) == 0 then
    return -1
  end
  if redis.call('HINCRBY', lock, me, -1) > 0 then
    redis.call('PEXPIRE', lock, ARGV[2])
    redis.call('SET', latch, '0', 'PX', ARGV[4])
    return 0
  end
  redis.call('DEL', lock)
end
redis.call('SET', latch, '1', 'PX', ARGV[4])
if head then
  redis.call('PUBLISH', ARGV[3] .. ':' .. head, '0')
end
return wasThere and 1 or -1
