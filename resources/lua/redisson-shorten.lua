-- SPDX-License-Identifier: Apache-2.0
-- Lets a Redisson lease end sooner, only while it is still this holder's alone; never later. Who waits sleeps until the
-- TTL it last saw: the message of an unlock makes it ask again, and learn the new one.
--
-- KEYS[1] the lock (hash), KEYS[2] its channel, KEYS[3] the channel of a read/write lock
-- ARGV[1] the holder's field, ARGV[2] milliseconds, ARGV[3] what a reader's timeout keys begin with, before the field,
-- ARGV[4] when the lock has to end, as the part says, or empty
-- Returns {outcome, subscribers told}. Outcome: 1 done, 2 it ends as soon by itself, 0 somebody else holds it, -1 no
-- such key, -2 others hold it, too: its TTL is theirs as well, -3 its lease is another.
--@ part-lease
--@ part-told
local lock, field, ms = KEYS[1], ARGV[1], tonumber(ARGV[2])

local count = redis.call('HGET', lock, field)
if count == false or field == 'mode' then
  return {redis.call('EXISTS', lock) == 1 and 0 or -1, 0}
end
local mode = redis.call('HGET', lock, 'mode')
-- A reader whose lease has ended has a field still, and none of these keys.
local function hasReadHold(reader, times)
  for n = 1, tonumber(times) or 0 do
    if redis.call('EXISTS', ARGV[3] .. reader .. ':rwlock_timeout:' .. n) == 1 then
      return true
    end
  end
  return false
end
if redis.call('HLEN', lock) > (mode and 2 or 1) then
  local isAlone = mode == 'read' and hasReadHold(field, count)
  local fields = redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    isAlone = isAlone and (fields[i] == field or not hasReadHold(fields[i], fields[i + 1]))
  end
  if not isAlone then
    return {-2, 0}
  end
end
if ARGV[4] ~= '' and isAnotherLease(lock, ARGV[4]) then
  return {-3, 0}
end
local left = redis.call('PTTL', lock)
if left >= 0 and left <= ms then
  return {2, 0}
end
for n = 1, mode == 'read' and tonumber(count) or 0 do
  local key = ARGV[3] .. field .. ':rwlock_timeout:' .. n
  if redis.call('PTTL', key) > ms then
    redis.call('PEXPIRE', key, ms)
  end
end
redis.call('PEXPIRE', lock, ms)
if mode == false then
  return {1, tell(KEYS[2], '0')}
end
return {1, tell(KEYS[3], mode == 'write' and '1' or '0')}
