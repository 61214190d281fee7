-- Redisson's lock, taken. KEYS: lock. ARGV: holder, lease in milliseconds.
-- Nil when it is ours now, else how long its lease still runs.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
    redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return false
end
return redis.call('PTTL', KEYS[1])
