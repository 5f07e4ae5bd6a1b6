-- Keeps a new game; if it is there already, changes nothing. Returns the game as it is now.
-- KEYS: game, log, index, due, wake.
-- ARGV: digest, mark, state, meta, expiry (ms, 0: never), id, version, spec of the clock ('' for none).
local game = KEYS[1]
if redis.call('EXISTS', game) == 0 then
  local time = present_time()
  local now = string.format('%.0f', time)
  redis.call('DEL', KEYS[2])
  redis.call('HSET', game, 'v', ARGV[7], 'k', ARGV[2], 's', ARGV[3], 'm', ARGV[4], 'b', ARGV[2], 'd', ARGV[1], 'c', now, 'u', now)
  if ARGV[8] ~= '' then
    redis.call('HSET', game, 'y', tick(words(ARGV[8]), {}, time, KEYS[4], KEYS[5], ARGV[6]))
  end
  if ARGV[5] ~= '0' then
    redis.call('PEXPIRE', game, ARGV[5])
  end
  redis.call('ZADD', KEYS[3], 0, ARGV[6])
  -- Games that have expired are still in the index. Two are looked at for each new one, so that at most about as many as
  -- there are games stay in it.
  local prefix = string.sub(game, 1, -1 - #ARGV[6])
  for _, id in ipairs(redis.call('ZRANDMEMBER', KEYS[3], 2)) do
    if redis.call('EXISTS', prefix .. id) == 0 then
      redis.call('ZREM', KEYS[3], id)
    end
  end
elseif redis.call('HEXISTS', game, 'u') == 1 then
  redis.call('HSET', game, 'u', redis.call('HGET', game, 'u')) -- a write, for a WAIT that follows to wait for
end
return redis.call('HMGET', game, 'v', 'k', 's', 'm', 'b', 'd', 'c', 'u', 'w', 'y')
