-- SPDX-License-Identifier: Apache-2.0
-- Lets one holder of a sorted set of holders, whose scores are the moments at which they end, end sooner; never later.
-- As its own client prolongs it: with the mark of an exclusive lock, and the key ends with the last member.
--
-- KEYS[1] the lock. ARGV: member, milliseconds, the member that marks an exclusive lock.
-- Returns 1 done, 2 it ends as soon by itself, 0 others hold the key, -1 no key, -2 the mark is another holder's, too.
local lock, me, mark = KEYS[1], ARGV[1], ARGV[3]

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end
local time = redis.call('TIME')
local soon = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])

local ends = redis.call('ZSCORE', lock, me)
if not ends then
  return redis.call('EXISTS', lock) - 1
end
if tonumber(ends) <= soon then
  return 2
end
if redis.call('ZSCORE', lock, mark) then
  if redis.call('ZCARD', lock) > 2 then
    return -2
  end
  redis.call('ZADD', lock, soon, mark)
end
redis.call('ZADD', lock, soon, me)
-- A score that is no moment is nobody's whose client prolongs the key so.
local last = tonumber(redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
if last < 2 ^ 53 then
  redis.call('PEXPIREAT', lock, string.format('%.0f', last))
end
return 1
