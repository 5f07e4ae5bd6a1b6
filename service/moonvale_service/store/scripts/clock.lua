-- What scripts begin with that need the time; and the clock of a game, as commit, create and amend keep it. The field y of
-- a game is "opened deadline bank bank ...", in milliseconds; a deadline of 0 is none. A spec is what Timing in
-- store/__init__.py says, as words in the same order.
local function words(text)
  local found = {}
  for word in string.gmatch(text or '', '%S+') do
    found[#found + 1] = word
  end
  return found
end

local function present_time()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Whether a change that may be made only before, or only after, the time is out is made at its time.
local function is_timely(spec, kept, now)
  local deadline = tonumber(kept[2] or '0')
  local is_out = deadline > 0 and now >= deadline + tonumber(spec[2])
  return spec[1] == 'any' or (spec[1] == 'after') == is_out
end

-- Moves the clock on, says when the game is due, and tells the stewards. Returns the new field y.
local function tick(spec, kept, now, due_key, wake, id)
  local banks = {}
  for i = 9, #spec do
    banks[i - 8] = tonumber(spec[i])
  end
  for i = 3, #kept do
    banks[i - 2] = tonumber(kept[i])
  end
  local opened, charged = tonumber(kept[1] or now), tonumber(spec[3]) + 1
  if banks[charged] then
    banks[charged] = math.max(0, banks[charged] - (now - opened)) + tonumber(spec[4])
  end
  if spec[5] == '0' then
    opened = now
  end
  local running, limit, lease = tonumber(spec[6]) + 1, tonumber(spec[7]), tonumber(spec[8])
  local deadline = 0
  if running > 0 then
    deadline = opened + (limit > 0 and limit or banks[running])
  end
  local due = lease >= 0 and now + lease or deadline > 0 and deadline + tonumber(spec[2])
  if due then
    local text = string.format('%.0f', due)
    redis.call('ZADD', due_key, text, id)
    if lease <= 0 then
      redis.call('SPUBLISH', wake, id .. ' ' .. text)
    end
  else
    redis.call('ZREM', due_key, id)
  end
  local field = {string.format('%.0f %.0f', opened, deadline)}
  for i = 1, #banks do
    field[i + 1] = string.format('%.0f', banks[i])
  end
  return table.concat(field, ' ')
end
