-- Replaces the meta of a game if it is what the change was computed from, and tells the shard's channel.
-- KEYS: game, channel. ARGV: meta before, meta after, message.
-- Returns 1, or 0 if it is another one, or 2 if there is no such game.
local present = redis.call('HGET', KEYS[1], 'm')
if not present then
  return 2
end
if present ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'm', ARGV[2])
redis.call('SPUBLISH', KEYS[2], ARGV[3])
return 1
