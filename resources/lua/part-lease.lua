-- SPDX-License-Identifier: Apache-2.0
-- A part of scripts (core/redis/client.cpp). Whether the key ends at another moment than it did at the last look, in ms
-- since 1970: its lease was written anew since, by who renews it or by who let go and took it again under the same id.

-- Redis before 5 replicates scripts by their text, which TIME forbids.
if redis.replicate_commands then
  redis.replicate_commands()
end

local function isAnotherLease(key, seen)
  local ends = redis.pcall('PEXPIRETIME', key)
  if type(ends) == 'number' then
    return ends ~= tonumber(seen)
  end
  -- Before Redis 7 the look took the end from TIME and PTTL, a moment apart: only what ends later by more is another.
  -- A user who may not ask took it from a clock of his own, which says nothing here.
  local time, left = redis.pcall('TIME'), redis.pcall('PTTL', key)
  if time.err or type(left) ~= 'number' then
    return false
  end
  return time[1] * 1000 + math.floor(time[2] / 1000) + left > tonumber(seen) + 50
end
