-- SPDX-License-Identifier: Apache-2.0
-- Changes a key only while it is what it was when somebody looked at it.
-- KEYS[1] the key, KEYS[2] of a rename the new name
-- ARGV[1] its type; 'none': it must not be there
-- ARGV[2] what is compared with ARGV[3]: 'value' (of a string), 'dump' (the server's form of any), 'items' (how many),
--         'field' (HGET of ARGV[7]), 'nofield' (there must be no ARGV[7]), 'nothing'
-- ARGV[4] '1' it ends by itself, '0' it does not, '' either; ARGV[5] when (PEXPIRETIME), '' at any time
-- ARGV[6] what is done: 'set', 'expire' (in ms), 'expireat' (ms since 1970), 'persist', 'rename', 'delete',
--         'restore', 'hset', 'hdel'; ARGV[7], ARGV[8] with what
-- ARGV[9] of a lock whose holder may take it again by the same id: when it has to end, as the part says; empty, or
--         none: at any moment
-- Returns 'done', or what is not as it was: 'gone', 'there', 'type', 'value', 'ttl', 'lease', 'taken' (the new name); or
-- 'past': the moment has passed, and the key would be gone at once.
--@ part-lease
local key = KEYS[1]
local kind = redis.call('TYPE', key)
if type(kind) == 'table' then
  kind = kind.ok
end
if kind ~= ARGV[1] then
  if kind == 'none' then
    return 'gone'
  end
  return ARGV[1] == 'none' and 'there' or 'type'
end

local counts = { string = 'STRLEN', hash = 'HLEN', list = 'LLEN', set = 'SCARD', zset = 'ZCARD', stream = 'XLEN' }
local how = ARGV[2]
local now = ARGV[3]
if how == 'value' then
  now = redis.call('GET', key)
elseif how == 'dump' then
  now = redis.call('DUMP', key)
elseif how == 'items' then
  now = tostring(redis.call(counts[kind], key))
elseif how == 'field' then
  now = redis.call('HGET', key, ARGV[7])
elseif how == 'nofield' and redis.call('HEXISTS', key, ARGV[7]) == 1 then
  return 'value'
end
if now ~= ARGV[3] then
  return 'value'
end

local left = redis.call('PTTL', key)
if (ARGV[4] == '1' and left < 0) or (ARGV[4] == '0' and left >= 0) then
  return 'ttl'
end
if ARGV[5] ~= '' and redis.call('PEXPIRETIME', key) ~= tonumber(ARGV[5]) then
  return 'ttl'
end

if (ARGV[9] or '') ~= '' and isAnotherLease(key, ARGV[9]) then
  return 'lease'
end

local act = ARGV[6]
-- By the server's own clock, since that is what it ends keys by.
local moment = act == 'expireat' and ARGV[7] or act == 'restore' and ARGV[8] or ''
if moment ~= '' then
  local time = redis.call('TIME')
  if tonumber(moment) <= time[1] * 1000 + math.floor(time[2] / 1000) then
    return 'past'
  end
end
if act == 'set' then
  redis.call('SET', key, ARGV[7])
  if left >= 0 then
    redis.call('PEXPIRE', key, math.max(left, 1))
  end
elseif act == 'expire' then
  redis.call('PEXPIRE', key, ARGV[7])
elseif act == 'expireat' then
  redis.call('PEXPIREAT', key, ARGV[7])
elseif act == 'persist' then
  redis.call('PERSIST', key)
elseif act == 'rename' then
  if redis.call('RENAMENX', key, KEYS[2]) == 0 then
    return 'taken'
  end
elseif act == 'delete' then
  redis.call('DEL', key)
elseif act == 'restore' then
  redis.call('RESTORE', key, 0, ARGV[7])
  if ARGV[8] ~= '' then
    redis.call('PEXPIREAT', key, ARGV[8])
  end
elseif act == 'hset' then
  -- Redis from 7.4 on gives a field an end of its own, which HSET takes away. Other servers know no such command.
  local told = how == 'field' and redis.pcall('HPEXPIRETIME', key, 'FIELDS', '1', ARGV[7]) or {}
  if told.err and not string.find(string.lower(told.err), 'unknown', 1, true) then
    return redis.error_reply(told.err)
  end
  redis.call('HSET', key, ARGV[7], ARGV[8])
  if not told.err and told[1] and told[1] > 0 then
    redis.call('HPEXPIREAT', key, string.format('%.0f', told[1]), 'FIELDS', '1', ARGV[7])
  end
elseif act == 'hdel' then
  redis.call('HDEL', key, ARGV[7])
else
  return redis.error_reply('ERR unknown act')
end
return 'done'
