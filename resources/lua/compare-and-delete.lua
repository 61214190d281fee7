-- SPDX-License-Identifier: Apache-2.0
-- Deletes the key only while it still holds the caller's token, so that nobody unlocks another's lock.
-- KEYS[1] the lock, ARGV[1] the token. Returns 1 deleted, 0 the key holds something else, -1 no key.
local value = redis.call('GET', KEYS[1])
if value == false then
  return -1
end
if value ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
