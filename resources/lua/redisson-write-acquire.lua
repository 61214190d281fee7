-- SPDX-License-Identifier: Apache-2.0
-- Redisson's read/write lock, taken for writing. KEYS: lock.
-- ARGV: holder (its field, which ends in ":write"), lease in milliseconds.
-- {1, times held} when we write now, else {0, how long its lease still runs}.
local lock, me = KEYS[1], ARGV[1]
if redis.call('EXISTS', lock) == 0 then
  redis.call('HSET', lock, 'mode', 'write', me, 1)
  redis.call('PEXPIRE', lock, ARGV[2])
  return {1, 1}
end
local left = redis.call('PTTL', lock)
if redis.call('HGET', lock, 'mode') == 'write' and redis.call('HEXISTS', lock, me) == 1 then
  local count = redis.call('HINCRBY', lock, me, 1)
  redis.call('PEXPIRE', lock, left + tonumber(ARGV[2]))
  return {1, count}
end
return {0, left}
