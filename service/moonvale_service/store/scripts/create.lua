-- Keeps a new game; if it is there already, changes nothing. Returns the game as it is now.
-- KEYS: game, log. ARGV: digest, mark, state, meta, expiry (ms, 0: never).
local game = KEYS[1]
if redis.call('EXISTS', game) == 0 then
  local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  redis.call('DEL', KEYS[2])
  redis.call('HSET', game, 'v', '0', 'k', ARGV[2], 's', ARGV[3], 'm', ARGV[4], 'b', ARGV[2], 'd', ARGV[1], 'c', now, 'u', now)
  if ARGV[5] ~= '0' then
    redis.call('PEXPIRE', game, ARGV[5])
  end
elseif redis.call('HEXISTS', game, 'u') == 1 then
  redis.call('HSET', game, 'u', redis.call('HGET', game, 'u')) -- a write, for a WAIT that follows to wait for
end
return redis.call('HMGET', game, 'v', 'k', 's', 'm', 'b', 'd', 'c', 'u')
