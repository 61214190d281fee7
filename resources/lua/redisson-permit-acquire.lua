-- SPDX-License-Identifier: Apache-2.0
-- A permit of Redisson's semaphore with expiring permits. The first who comes makes the semaphore.
-- KEYS: semaphore (permits left), deadlines (sorted set of permits).
-- ARGV: permit (16 bytes), lease in milliseconds, how many permits there are, channel, '0': none is to be made.
-- {1, 1} when it is ours now; {0, how long until the next one runs out}; {-1, how many there are} when
-- that is another number, 0 where nothing shows a semaphore. Sent again because its answer was lost, it takes no second permit.
local semaphore, deadlines = KEYS[1], KEYS[2]

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

if redis.call('EXISTS', semaphore) == 0 then
  if ARGV[5] == '0' then
    return {-1, 0}
  end
  local left = math.max(0, tonumber(ARGV[3]) - redis.call('ZCARD', deadlines))
  redis.call('SET', semaphore, left)
  redis.call('PUBLISH', ARGV[4], left)
elseif ARGV[5] == '0' and redis.call('EXISTS', deadlines) == 0 then
  return {-1, 0} -- a bare number may be a lock or a count as well
end
local expired = redis.call('ZRANGEBYSCORE', deadlines, 0, now, 'LIMIT', 0, 1)[1]
if expired then
  redis.call('ZREM', deadlines, expired)
  redis.call('PUBLISH', ARGV[4], redis.call('INCRBY', semaphore, 1))
end

local left = tonumber(redis.call('GET', semaphore))
local all = left + redis.call('ZCARD', deadlines)
if all ~= tonumber(ARGV[3]) then
  return {-1, all}
end
local isOurs = redis.call('ZSCORE', deadlines, ARGV[1])
if left < 1 and not isOurs then
  local first = redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')
  return {0, math.max(0, tonumber(first[2]) - now)}
end
if not isOurs then
  redis.call('DECRBY', semaphore, 1)
end
redis.call('ZADD', deadlines, now + tonumber(ARGV[2]), ARGV[1])
local ttl = redis.call('PTTL', semaphore)
if ttl > 0 then
  redis.call('PEXPIRE', deadlines, ttl)
end
return {1, 1}
