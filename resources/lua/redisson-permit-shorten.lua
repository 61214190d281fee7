-- SPDX-License-Identifier: Apache-2.0
-- Lets one permit of Redisson's semaphore run out sooner, only while it is out; never later. Who waits sleeps until the
-- moment it last saw: a message of one permit makes one waiter of each process ask again, and learn the new one.
--
-- KEYS: deadlines. ARGV: permit (16 bytes), milliseconds, channel.
-- Returns {outcome, subscribers told}. Outcome: 1 done, 2 it runs out as soon by itself, -1 it is not out.

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local deadline = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
if deadline <= now then
  return {-1, 0}
end
if deadline <= now + tonumber(ARGV[2]) then
  return {2, 0}
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
return {1, redis.call('PUBLISH', ARGV[3], '1')}
