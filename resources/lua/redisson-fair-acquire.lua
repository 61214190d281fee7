-- SPDX-License-Identifier: Apache-2.0
-- Redisson's fair lock, taken, taken once more, or queued for.
-- KEYS: lock, queue (list), deadlines (sorted set).
-- ARGV: holder, lease, how long one waiter is given (both in milliseconds), '1' to queue.
-- {1, times held} when it is ours now, else {0, how long to wait at most before trying again}.
local lock, queue, deadlines, me = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- 1. Who did not come in its time is gone; so is an entry that has no time, which would block for ever.
local head = redis.call('LINDEX', queue, 0)
while head and tonumber(redis.call('ZSCORE', deadlines, head) or 0) <= now do
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, head)
  head = redis.call('LINDEX', queue, 0)
end

-- 2. It is free, and nobody is before us: those behind us have one waiter less to wait for.
local isFree = redis.call('EXISTS', lock) == 0
if isFree and (not head or head == me) then
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, me)
  for _, waiter in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
    redis.call('ZINCRBY', deadlines, -tonumber(ARGV[3]), waiter)
  end
  redis.call('HSET', lock, me, 1)
  redis.call('PEXPIRE', lock, ARGV[2])
  return {1, 1}
end

-- 3. Ours already.
if redis.call('HEXISTS', lock, me) == 1 then
  local count = redis.call('HINCRBY', lock, me, 1)
  redis.call('PEXPIRE', lock, ARGV[2])
  return {1, count}
end

-- 4. To the end of the queue, unless we stand in it; our deadline is that of the last one, or the
-- lease's end, and the time that one waiter is given.
if ARGV[4] == '1' and not redis.call('ZSCORE', deadlines, me) then
  local last = redis.call('LINDEX', queue, -1)
  local ahead = last and redis.call('ZSCORE', deadlines, last)
  local wait = ahead and tonumber(ahead) - now or math.max(0, redis.call('PTTL', lock))
  redis.call('ZADD', deadlines, now + wait + tonumber(ARGV[3]), me)
  redis.call('RPUSH', queue, me)
end

-- A head that does not come for a free lock is dropped when its time is up.
if isFree then
  return {0, tonumber(redis.call('ZSCORE', deadlines, head)) - now}
end
return {0, redis.call('PTTL', lock)}
