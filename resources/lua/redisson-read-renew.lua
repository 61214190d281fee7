-- SPDX-License-Identifier: Apache-2.0
-- A reader's lease, renewed: each of its own holds, and the lock as long as the longest of its readers.
-- KEYS: lock. ARGV: holder, lease in milliseconds, what a reader's timeout keys begin with.
-- 1 renewed, 0 not this holder's.
local lock, me, lease = KEYS[1], ARGV[1], tonumber(ARGV[2])
local count = tonumber(redis.call('HGET', lock, me) or 0)
if count == 0 then
  return 0
end
for n = 1, count do
  redis.call('PEXPIRE', ARGV[3] .. me .. ':rwlock_timeout:' .. n, lease)
end
return redis.call('PEXPIRE', lock, math.max(redis.call('PTTL', lock), lease))
