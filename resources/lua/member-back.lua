-- SPDX-License-Identifier: Apache-2.0
-- One holder taken out of a sorted set of holders, or out of a hash of them; as its own client gives back what it has.
--
-- KEYS[1] the lock; of a hash KEYS[2], the list of permits that are free, on which clients sleep.
-- ARGV: member or field; of a set the member that marks an exclusive lock, or ''; of a hash the value that it must have.
-- Returns 1 done, 0 it is another's by now, -1 it is not there.
local lock, available, me, other = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

if available then
  local since = redis.call('HGET', lock, me)
  if not since then
    return -1
  end
  if since ~= other then
    return 0
  end
  redis.call('HDEL', lock, me)
  redis.call('LPUSH', available, me)
  return 1
end

if redis.call('ZREM', lock, me) == 0 then
  return -1
end
-- The mark is nobody's once no token stands beside it.
if other ~= '' and redis.call('ZCARD', lock) == 1 then
  redis.call('ZREM', lock, other)
end
return 1
