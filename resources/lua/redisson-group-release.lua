-- SPDX-License-Identifier: Apache-2.0
-- Takes one value of a group of locks (Redisson's getMultiLock(group, values)) from its holder, as Redisson's own
-- force-unlock does, but only from this one, and wakes who waits for the group.
-- KEYS[1] the group (hash), KEYS[2] its channel. ARGV[1] the value's field, ARGV[2] its holder.
-- Returns {outcome, subscribers told}. Outcome: 1 the group is free, 2 others of its values are held, 0 another
-- holds it, -1 nobody does.
--@ part-told
local group, field, holder = KEYS[1], ARGV[1], ARGV[2]
local held = redis.call('HGET', group, field)
if held == false then
  return {-1, 0}
end
if held ~= holder then
  return {0, 0}
end
local stem = field .. ':' .. holder
redis.call('HDEL', group, field, stem .. ':expire_time', stem .. ':lock_count')
local outcome = redis.call('EXISTS', group) == 1 and 2 or 1
return {outcome, tell(KEYS[2], '0')}
