-- SPDX-License-Identifier: Apache-2.0
-- Takes away what a rule of the user's says is one holder's, only while it is, and wakes who waits as the rule says, in
-- one step.
-- KEYS[1] the lock. ARGV[1] the field of a hash that says whose the hash is, ARGV[2] what it must say: the key is
-- deleted. Or ARGV[1] empty, ARGV[2] the member of a sorted set, or field of a hash, that stands for the holder: it is
-- taken out. ARGV[3] and on: whom to wake, as the part says.
-- Returns 1 and one more for each subscriber told, 0 it is another's by now or of another type, -1 it is not there.
--@ part-wake-up
local lock, field, mine = KEYS[1], ARGV[1], ARGV[2]
local kind = redis.call('TYPE', lock).ok
if kind == 'none' then
  return -1
end
if kind ~= 'hash' and (kind ~= 'zset' or field ~= '') then
  return 0
end
if field ~= '' then
  local said = redis.call('HGET', lock, field)
  if said ~= mine then
    return said and 0 or -1
  end
  redis.call('DEL', lock)
elseif redis.call(kind == 'hash' and 'HDEL' or 'ZREM', lock, mine) == 0 then
  return -1
end
return 1 + wakeUp(lock)
