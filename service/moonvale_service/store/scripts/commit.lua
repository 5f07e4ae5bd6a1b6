-- Changes a game if its version, mark and meta are those that the change was computed from, and tells the shard's channel.
-- KEYS: game, log, channel, due, wake.
-- ARGV: version, mark, new mark, state, ring field ('' for none), ring, expiry (ms, 0: never), keep from (ms),
--       id, meta, new meta ('' for the same), spec of the clock ('' for none), entries without their time...
-- Returns {1, time}, or {0, the game} if it has moved on, or {2} if there is no such game, or {3, time} if it is not the time.
local game, log = KEYS[1], KEYS[2]
local present = redis.call('HMGET', game, 'v', 'k', 'u', 'm')
if not present[1] then
  return {2}
end
if present[1] ~= ARGV[1] or present[2] ~= ARGV[2] or present[4] ~= ARGV[10] then
  -- The first entry that this change would have appended may be there: then an answer was lost, and this is a repeat.
  local entry = redis.call('LINDEX', log, ARGV[1])
  if entry and string.sub(entry, 9, 16) == ARGV[3] then
    redis.call('HSET', game, 'u', present[3]) -- a write, for a WAIT that follows to wait for
    return {1, string.format('%.0f', struct.unpack('>I8', entry))}
  end
  return {0, redis.call('HMGET', game, 'v', 'k', 's', 'm', 'b', 'd', 'c', 'u', 'w', 'y', ARGV[5])}
end
if redis.call('LLEN', log) ~= tonumber(ARGV[1]) then
  return redis.error_reply('MOONVALE the log and the version of a game differ')
end

-- Times in a log never go back, even if the server's clock does.
local now = math.max(present_time(), tonumber(present[3]))
local text = string.format('%.0f', now)
if ARGV[12] ~= '' then
  local spec, kept = words(ARGV[12]), words(redis.call('HGET', game, 'y'))
  if not is_timely(spec, kept, now) then
    return {3, text}
  end
  redis.call('HSET', game, 'y', tick(spec, kept, now, KEYS[4], KEYS[5], ARGV[9]))
end
local stamp = struct.pack('>I8', now)
local entries = {}
for i = 13, #ARGV do
  entries[#entries + 1] = stamp .. ARGV[i]
end
local version = redis.call('RPUSH', log, unpack(entries))
redis.call('HSET', game, 'v', string.format('%d', version), 'k', ARGV[3], 's', ARGV[4], 'u', text)
if ARGV[5] ~= '' then
  redis.call('HSET', game, ARGV[5], ARGV[6])
end
if ARGV[11] ~= '' then
  redis.call('HSET', game, 'm', ARGV[11])
end
if ARGV[7] == '0' then
  redis.call('PERSIST', game)
  redis.call('PERSIST', log)
else
  local expiry = string.format('%.0f', math.max(now, tonumber(ARGV[8])) + tonumber(ARGV[7]))
  redis.call('PEXPIREAT', game, expiry)
  redis.call('PEXPIREAT', log, expiry)
end
redis.call('SPUBLISH', KEYS[3], ARGV[9])
return {1, text}
