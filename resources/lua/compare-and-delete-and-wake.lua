-- SPDX-License-Identifier: Apache-2.0
-- Deletes the key only while it still holds this value (and ends at this moment), and wakes who may wait for it the
-- way its own clients do, in one step: a bare DEL would leave them asleep.
-- KEYS[1] the lock. ARGV[1] the value, ARGV[2] its expiry in ms since 1970 (PEXPIRETIME: Redis 7) or empty,
-- ARGV[3] python-redis-lock's list of wake-ups or empty, ARGV[4] and on: channels that hear of the key.
-- Returns 1 and one more for each subscriber told, 0 the key holds something else, -1 no key.
--
-- The list is no declared key, and what cannot be sent is not: a user who may not write to it, or a cluster that
-- keeps it elsewhere, must not keep the lock from being given back.
local value = redis.call('GET', KEYS[1])
if value == false then
  return -1
end
if value ~= ARGV[1] then
  return 0
end
if ARGV[2] ~= '' and redis.call('PEXPIRETIME', KEYS[1]) ~= tonumber(ARGV[2]) then
  return 0
end
redis.call('DEL', KEYS[1])
local outcome = 1
if ARGV[3] ~= '' then
  redis.pcall('DEL', ARGV[3])
  redis.pcall('LPUSH', ARGV[3], '1')
  redis.pcall('PEXPIRE', ARGV[3], 1000)
end
for i = 4, #ARGV do
  local told = redis.pcall('PUBLISH', ARGV[i], KEYS[1])
  if type(told) == 'number' then
    outcome = outcome + told
  end
end
return outcome
