-- SPDX-License-Identifier: Apache-2.0
-- A permit of Redisson's semaphore, kept for longer. KEYS: deadlines.
-- ARGV: permit (16 bytes), lease in milliseconds. 1 renewed, 0 it is not there or has run out.

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local deadline = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not deadline or tonumber(deadline) <= now then
  return 0
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
return 1
