-- Keeps the log of a game that is over in the game itself, unless the game has changed. Returns 1, or 0 if it has.
-- KEYS: game, log, due. ARGV: version, mark, packed log, id.
local present = redis.call('HMGET', KEYS[1], 'v', 'k')
if present[1] ~= ARGV[1] or present[2] ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'l', ARGV[3])
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[4])
return 1
