-- Returns the games of a shard that are due, and has them due again only after a while: whoever asks takes care of them.
-- KEYS: due. ARGV: how many at most, lease (ms). Returns the time, the ids, and when the next one is due ('': none is).
local now = present_time()
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
local later = string.format('%.0f', now + tonumber(ARGV[2]))
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], later, id)
end
return {string.format('%.0f', now), ids, redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or ''}
