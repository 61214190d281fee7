-- SPDX-License-Identifier: Apache-2.0
-- Takes a Redisson lock from one holder and wakes who waits for it, in one step and the way Redisson's
-- own unlock does: a bare DEL would leave its waiters asleep for the TTL they last saw.
--
-- KEYS[1] the lock (hash), KEYS[2] its channel, KEYS[3] the channel of a read/write lock,
-- KEYS[4] a fair lock's queue (list), KEYS[5] a fair lock's deadlines (sorted set)
-- ARGV[1] the holder's field, ARGV[2] what a reader's timeout keys begin with, before the field,
-- ARGV[3] when the lock has to end, as the part says; empty, or none: at any moment
-- Returns {outcome, subscribers told}. Outcome: 1 the lock is free, 2 this hold is gone and others
-- remain, 0 somebody else holds it, -1 no such key, -2 not a layout of Redisson's, -3 its lease is another.
--@ part-lease
--@ part-told
local lock, field = KEYS[1], ARGV[1]

-- A fair lock wakes the head of its queue, on a channel of its own; heads whose deadline has passed
-- are gone and must not be the ones told.
local function tellFairQueue()
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  while true do
    local head = redis.call('LINDEX', KEYS[4], 0)
    if head == false then
      return 0
    end
    local deadline = tonumber(redis.call('ZSCORE', KEYS[5], head) or now + 1)
    if deadline > now then
      return tell(KEYS[2] .. ':' .. head, '0')
    end
    redis.call('LPOP', KEYS[4])
    redis.call('ZREM', KEYS[5], head)
  end
end

-- The longest time any remaining reader still has, in ms.
local function longestReader()
  local longest = 0
  local fields = redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    local count = tonumber(fields[i + 1])
    for n = 1, count or 0 do
      local left = redis.call('PTTL', ARGV[2] .. fields[i] .. ':rwlock_timeout:' .. n)
      longest = math.max(longest, left)
    end
  end
  return longest
end

local count = redis.call('HGET', lock, field)
if count == false or field == 'mode' then
  return {redis.call('EXISTS', lock) == 1 and 0 or -1, 0}
end
if (ARGV[3] or '') ~= '' and isAnotherLease(lock, ARGV[3]) then
  return {-3, 0}
end

local mode = redis.call('HGET', lock, 'mode')
if mode == false then
  if redis.call('HLEN', lock) > 1 then
    return {-2, 0}
  end
  redis.call('DEL', lock)
  local told = tell(KEYS[2], '0')
  return {1, told + tellFairQueue()}
end

local isWriter = string.sub(field, -6) == ':write'
local holds = 0
if not isWriter then
  for n = 1, tonumber(count) or 0 do
    holds = holds + redis.call('DEL', ARGV[2] .. field .. ':rwlock_timeout:' .. n)
  end
end
redis.call('HDEL', lock, field)
local payload = isWriter and '1' or '0' -- 0 wakes one waiter, 1 wakes all
if redis.call('HLEN', lock) == 1 then
  redis.call('DEL', lock)
  return {1, tell(KEYS[3], payload)}
end
if isWriter then
  -- The same client still reads: other readers may come in now, so tell them.
  redis.call('HSET', lock, 'mode', 'read')
  return {2, tell(KEYS[3], payload)}
end
local longest = mode == 'read' and longestReader() or 0
if longest > 0 then
  redis.call('PEXPIRE', lock, longest)
elseif mode == 'read' and holds > 0 then
  -- The leases of all other readers have ended: their fields go with the last that ran, as in Redisson's own unlock.
  redis.call('DEL', lock)
  return {1, tell(KEYS[3], '0')}
end
return {2, 0}
