-- SPDX-License-Identifier: Apache-2.0
-- Gives the key a new time to live only while it still holds the caller's token.
-- KEYS[1] the lock, ARGV[1] the token, ARGV[2] milliseconds. Returns 1 done, 0 the key holds something
-- else, -1 no key.
local value = redis.call('GET', KEYS[1])
if value == false then
  return -1
end
if value ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
