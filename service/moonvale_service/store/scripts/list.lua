-- Returns what a shard's index names after an id, in order, and takes out of it the games that have expired.
-- KEYS: index. ARGV: '-' or '(' .. id, how many, what the keys of games begin with.
-- Returns the last id that was looked at ('' at the end of the index), and rows of id, version, meta, created, updated.
local ids = redis.call('ZRANGE', KEYS[1], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
local rows = {}
for _, id in ipairs(ids) do
  local found = redis.call('HMGET', ARGV[3] .. id, 'v', 'm', 'c', 'u')
  if found[1] then
    rows[#rows + 1] = {id, found[1], found[2], found[3], found[4]}
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return {#ids == tonumber(ARGV[2]) and ids[#ids] or '', rows}
