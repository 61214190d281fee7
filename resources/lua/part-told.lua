-- SPDX-License-Identifier: Apache-2.0
-- A part of scripts (core/redis/client.cpp). Publishes, and returns how many listen to that channel by its name, as who
-- waits for a lock does: who listens to a pattern, as Lockscope itself and other onlookers do, is not woken by it. Where
-- that may not be asked, or is not known, it is all that were told.
local function tell(channel, payload)
  local all = redis.call('PUBLISH', channel, payload)
  local named = redis.pcall('PUBSUB', 'NUMSUB', channel)
  return type(named[2]) == 'number' and named[2] or all
end
