-- Returns the store's time, the game, and its log from an index on.
-- KEYS: game, log. ARGV: index.
local time = redis.call('TIME')
return {
  string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)),
  redis.call('HMGET', KEYS[1], 'v', 'k', 's', 'm', 'b', 'd', 'c', 'u', 'w', 'y'),
  redis.call('LRANGE', KEYS[2], ARGV[1], '-1'),
}
