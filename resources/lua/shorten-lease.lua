-- SPDX-License-Identifier: Apache-2.0
-- Lets the key end sooner, only while it still holds this value; never later.
-- KEYS[1] the lock, ARGV[1] the value, ARGV[2] milliseconds, ARGV[3] when the key has to end, as the part says, or empty.
-- Returns 1 done, 2 it ends as soon by itself, 0 the key holds something else, -1 no key, -3 its lease is another.
--@ part-lease
local value = redis.call('GET', KEYS[1])
if value == false then
  return -1
end
if value ~= ARGV[1] then
  return 0
end
if ARGV[3] ~= '' and isAnotherLease(KEYS[1], ARGV[3]) then
  return -3
end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= tonumber(ARGV[2]) then
  return 2
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
