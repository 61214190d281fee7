-- SPDX-License-Identifier: Apache-2.0
-- Deletes the key only while it still holds this value (and ends at this moment), and wakes who may wait for it the
-- way its own clients do, in one step: a bare DEL would leave them asleep.
-- KEYS[1] the lock. ARGV[1] the value, ARGV[2] when it has to end, as the part says, or empty, ARGV[3] and on: whom to
-- wake, as the other part says.
-- Returns 1 and one more for each subscriber told, 0 the key holds something else, -1 no key.
--@ part-lease
--@ part-wake-up
local value = redis.call('GET', KEYS[1])
if value == false then
  return -1
end
if value ~= ARGV[1] then
  return 0
end
if ARGV[2] ~= '' and isAnotherLease(KEYS[1], ARGV[2]) then
  return 0
end
redis.call('DEL', KEYS[1])
return 1 + wakeUp(KEYS[1])
