-- SPDX-License-Identifier: Apache-2.0
-- Redisson's lock, taken for the first time or once more by who holds it.
-- KEYS: lock; for a fenced lock also its token counter. ARGV: holder, lease in milliseconds.
-- {1, times held, token} when it is ours now, else {0, how long its lease still runs}.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return {0, redis.call('PTTL', KEYS[1])}
end
local token = KEYS[2] and redis.call('INCR', KEYS[2]) or 0
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, count, token}
