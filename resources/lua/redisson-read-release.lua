-- SPDX-License-Identifier: Apache-2.0
-- One hold of a reader, given back; when nobody reads any more, one who waits hears of it.
-- KEYS: lock, latch. ARGV: holder, what a reader's timeout keys begin with, channel, how long the
-- latch is kept. 1 this reader holds it no more, 0 it does still, -1 it did not hold it. The latch
-- keeps the answer, so that the same request sent twice counts once.
local lock, latch, me, prefix, channel = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]

local before = redis.call('GET', latch)
if before then
  return tonumber(before)
end
local mode = redis.call('HGET', lock, 'mode')
if not mode then
  redis.call('PUBLISH', channel, '0')
  redis.call('SET', latch, '1', 'PX', ARGV[4])
  return -1
end
if redis.call('HEXISTS', lock, me) == 0 then
  return -1
end
local count = redis.call('HINCRBY', lock, me, -1)
if count == 0 then
  redis.call('HDEL', lock, me)
end
redis.call('DEL', prefix .. me .. ':rwlock_timeout:' .. (count + 1))
local answer = count == 0 and 1 or 0
redis.call('SET', latch, answer, 'PX', ARGV[4])

-- The lock lives as long as the longest of the holds that are left; a reader that crashed has a field
-- still, but none of its holds lives.
local longest = 0
local fields = redis.call('HGETALL', lock)
for i = 1, #fields, 2 do
  for n = 1, tonumber(fields[i + 1]) or 0 do
    longest = math.max(longest, redis.call('PTTL', prefix .. fields[i] .. ':rwlock_timeout:' .. n))
  end
end
if longest > 0 then
  redis.call('PEXPIRE', lock, longest)
elseif mode ~= 'write' then
  redis.call('DEL', lock)
  redis.call('PUBLISH', channel, '0')
end
return answer
