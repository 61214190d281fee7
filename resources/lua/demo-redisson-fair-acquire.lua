-- Redisson's fair lock, taken or queued for. KEYS: lock, queue, timeouts.
-- ARGV: holder, lease, how long one waiter is given (both in milliseconds), now.
-- Nil when it is ours now, else how long to wait at most.
local now = tonumber(ARGV[4])
while true do
    local head = redis.call('LINDEX', KEYS[2], 0)
    local deadline = head and redis.call('ZSCORE', KEYS[3], head)
    if not deadline or tonumber(deadline) > now then
        break
    end
    redis.call('ZREM', KEYS[3], head)
    redis.call('LPOP', KEYS[2])
end

local first = redis.call('LINDEX', KEYS[2], 0)
if redis.call('EXISTS', KEYS[1]) == 0 and (not first or first == ARGV[1]) then
    redis.call('LPOP', KEYS[2])
    redis.call('ZREM', KEYS[3], ARGV[1])
    for _, waiter in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
        redis.call('ZINCRBY', KEYS[3], -tonumber(ARGV[3]), waiter)
    end
    redis.call('HSET', KEYS[1], ARGV[1], 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return false
end

local left = math.max(0, redis.call('PTTL', KEYS[1]))
if not redis.call('ZSCORE', KEYS[3], ARGV[1]) then
    local last = redis.call('LINDEX', KEYS[2], -1)
    local ahead = last and redis.call('ZSCORE', KEYS[3], last)
    local wait = ahead and (tonumber(ahead) - now) or left
    redis.call('ZADD', KEYS[3], now + wait + tonumber(ARGV[3]), ARGV[1])
    redis.call('RPUSH', KEYS[2], ARGV[1])
end
return left
