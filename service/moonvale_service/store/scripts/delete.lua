-- Deletes a game and leaves a mark in its place for a while, so that neither a repeat nor a late CreateGame is misled.
-- KEYS: game, log, channel, index, due. ARGV: how long the mark stays (ms), id. Returns 1, or 0 if there is no such game.
local game = KEYS[1]
if redis.call('EXISTS', game) == 0 then
  return 0
end
if redis.call('HEXISTS', game, 'x') == 0 then
  redis.call('DEL', game, KEYS[2])
  redis.call('HSET', game, 'x', '1')
  redis.call('PEXPIRE', game, ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[2])
  redis.call('ZREM', KEYS[5], ARGV[2])
  redis.call('SPUBLISH', KEYS[3], ARGV[2])
else
  redis.call('HSET', game, 'x', '1') -- a write, for a WAIT that follows to wait for
end
return 1
