-- Returns the store's time, the game, its log from an index on, or nothing of it and the whole log as it was packed.
-- KEYS: game, log. ARGV: index.
local log = redis.call('LRANGE', KEYS[2], ARGV[1], '-1')
return {
  string.format('%.0f', present_time()),
  redis.call('HMGET', KEYS[1], 'v', 'k', 's', 'm', 'b', 'd', 'c', 'u', 'w', 'y'),
  log,
  #log == 0 and redis.call('HGET', KEYS[1], 'l'), -- which a packed game has
}
