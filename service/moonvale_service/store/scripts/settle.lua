-- Writes what is there again, so that a WAIT that follows waits for all that was written before. KEYS: game.
local updated = redis.call('HGET', KEYS[1], 'u')
if updated then
  redis.call('HSET', KEYS[1], 'u', updated)
end
return 1
