-- Changes the meta of a game if its mark and meta are those that the change was computed from, tells the shard's channel, and
-- begins the game if there is a state for that.
-- KEYS: game, channel, due, wake.
-- ARGV: mark, meta, new mark ('' for the same), new meta, state ('' for none), expiry (ms, 0: never, '' for the same), id,
--       spec of the clock ('' for none).
-- Returns {1, time}, or {0, the game} if it has moved on, or {2} if there is no such game, or {3, time} if it is not the time.
local game = KEYS[1]
local present = redis.call('HMGET', game, 'k', 'm', 'u')
if not present[2] then
  return {2}
end
if present[1] ~= ARGV[1] or present[2] ~= ARGV[2] then
  if ARGV[3] ~= '' and present[1] == ARGV[3] then -- the answer was lost, and this is a repeat
    redis.call('HSET', game, 'u', present[3]) -- a write, for a WAIT that follows to wait for
    return {1, present[3]}
  end
  return {0, redis.call('HMGET', game, 'v', 'k', 's', 'm', 'b', 'd', 'c', 'u', 'w', 'y')}
end
local now = math.max(present_time(), tonumber(present[3]))
local text = string.format('%.0f', now)
if ARGV[8] ~= '' then
  local spec, kept = words(ARGV[8]), words(redis.call('HGET', game, 'y'))
  if not is_timely(spec, kept, now) then
    return {3, text}
  end
  redis.call('HSET', game, 'y', tick(spec, {}, now, KEYS[3], KEYS[4], ARGV[7]))
end
redis.call('HSET', game, 'm', ARGV[4])
if ARGV[3] ~= '' then
  redis.call('HSET', game, 'k', ARGV[3], 'b', ARGV[3], 'u', text)
end
if ARGV[5] ~= '' then
  redis.call('HSET', game, 'v', '0', 's', ARGV[5], 'w', text)
end
if ARGV[6] == '0' then
  redis.call('PERSIST', game)
elseif ARGV[6] ~= '' then
  redis.call('PEXPIRE', game, ARGV[6])
end
redis.call('SPUBLISH', KEYS[2], ARGV[7])
return {1, text}
