-- SPDX-License-Identifier: Apache-2.0
-- A part of scripts (core/redis/client.cpp). Wakes who may wait for the lock, the way its own clients do: ARGV[3] is a
-- list of wake-ups (as python-redis-lock has it) or empty, ARGV[4] and on are channels that hear of the key. Returns
-- how many subscribers were told.
--
-- The list is no declared key, and what cannot be sent is not: a user who may not write to it, or a cluster that
-- keeps it elsewhere, must not keep the lock from being given back.
local function wakeUp(lock)
  if ARGV[3] ~= '' then
    redis.pcall('DEL', ARGV[3])
    redis.pcall('LPUSH', ARGV[3], '1')
    redis.pcall('PEXPIRE', ARGV[3], 1000)
  end
  local outcome = 0
  for i = 4, #ARGV do
    local told = redis.pcall('PUBLISH', ARGV[i], lock)
    if type(told) == 'number' then
      outcome = outcome + told
    end
  end
  return outcome
end
