-- Redisson's lock, given back by its only hold; who waits hears of it. KEYS: lock. ARGV: holder, channel.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    return false
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], '0')
return 1
