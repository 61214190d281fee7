-- SPDX-License-Identifier: Apache-2.0
-- A permit of Redisson's semaphore, given back; who waits hears how many there are now.
-- KEYS: semaphore, deadlines. ARGV: permit (16 bytes), channel.
-- {1 given back, 0 it had run out before, -1 no such permit; how many heard of it}.
local semaphore, deadlines = KEYS[1], KEYS[2]

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local deadline = redis.call('ZSCORE', deadlines, ARGV[1])
if not deadline then
  return {-1, 0}
end
redis.call('ZREM', deadlines, ARGV[1])
local told = redis.call('PUBLISH', ARGV[2], redis.call('INCRBY', semaphore, 1))
return {tonumber(deadline) > now and 1 or 0, told}
