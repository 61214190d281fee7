-- SPDX-License-Identifier: Apache-2.0
-- Gives up a place in the queue of Redisson's fair lock. KEYS: lock, queue, deadlines.
-- ARGV: holder, how long one waiter is given (milliseconds), channel without the waiter's name.
-- 1 it stood there, 0 it did not.
local lock, queue, deadlines, me = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

local place = 0
for i, waiter in ipairs(redis.call('LRANGE', queue, 0, -1)) do
  if waiter == me then
    place = i
  elseif place > 0 and redis.call('ZSCORE', deadlines, waiter) then
    redis.call('ZINCRBY', deadlines, -tonumber(ARGV[2]), waiter)
  end
end
redis.call('ZREM', deadlines, me)
redis.call('LREM', queue, 0, me)

-- We may have been told of a release and have made no use of it: the next one must hear of it.
local head = redis.call('LINDEX', queue, 0)
if place == 1 and head and redis.call('EXISTS', lock) == 0 then
  redis.call('PUBLISH', ARGV[3] .. ':' .. head, '0')
end
return place > 0 and 1 or 0
