-- SPDX-License-Identifier: Apache-2.0
-- A Redisson lease, renewed while it is still this holder's. KEYS: lock.
-- ARGV: holder, lease in milliseconds. 1 renewed, 0 not this holder's.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
