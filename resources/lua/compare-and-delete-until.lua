-- SPDX-License-Identifier: Apache-2.0
-- Deletes the key only while it still holds this value until this moment: of a value that every holder
-- writes alike, the moment at which it ends tells one hold from the next.
-- KEYS[1] the lock, ARGV[1] the value, ARGV[2] its expiry in ms since 1970 (PEXPIRETIME: Redis 7).
-- Returns 1 deleted, 0 the key holds something else or until another moment, -1 no key.
local value = redis.call('GET', KEYS[1])
if value == false then
  return -1
end
if value ~= ARGV[1] or redis.call('PEXPIRETIME', KEYS[1]) ~= tonumber(ARGV[2]) then
  return 0
end
return redis.call('DEL', KEYS[1])
