-- Redisson's fair lock, given back; the first of the queue hears of it on a channel of its own.
-- KEYS: lock, queue. ARGV: holder, channel without the waiter's name.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    return false
end
redis.call('DEL', KEYS[1])
local first = redis.call('LINDEX', KEYS[2], 0)
if first then
    redis.call('PUBLISH', ARGV[2] .. ':' .. first, '0')
end
return 1
