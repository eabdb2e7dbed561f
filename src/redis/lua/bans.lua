-- Mirrors src/store/ban_list.cc: bans of keys, and the denials that count towards them.
--
-- A ban, a string: "until since touched", and behind them the key's attributes where the name of
-- the key has only their digest. The denials are a sliding window log. Both go by rule and
-- attributes alone, so that another algorithm lifts no ban.
local BANNED = 7

-- How long a banned key waits: for the end of the ban, of which `left` is left, and for its limit. Where
-- the limit does not know when, the ban is at least known.
local function wait_of_banned(left, by_limit)
  return by_limit == NEVER and NEVER or max(left, by_limit)
end

-- nil where no ban lasts.
local function load_ban(key)
  local text = call('GET', key)
  if not text then
    return nil
  end
  local ends, since, touched, attributes = match(text, '^(%d+) (%d+) (%d+) ?(.*)$')
  if not ends then
    foreign(key)
  end
  local ban = {ends = tonumber(ends), since = tonumber(since), touched = tonumber(touched),
               attributes = attributes}
  local back = ban.touched - now
  if back > 0 then
    ban.ends, ban.since, ban.touched = ban.ends - back, max(ban.since - back, 0), now
    ban.shifted = true
  end
  return now < ban.ends and ban or nil
end

local function save_ban(key, ban)
  set(key, format('%.0f %.0f %.0f %s', ban.ends, ban.since, ban.touched, ban.attributes), ban.ends)
end

-- Until when it is banned; 0 if it is not.
local function banned_until(key)
  local ban = load_ban(key)
  if ban and ban.shifted then
    save_ban(key, ban)
  end
  return ban and ban.ends or 0
end

-- The ban that a key has under a former id of its rule moves to its own, unless it has one that lasts
-- longer.
local function adopt_ban(ban, former)
  local old, own = load_ban(former), load_ban(ban)
  if old and not (own and own.ends >= old.ends) then
    call('RENAME', former, ban)
  end
end

-- Bans the key from now on. A ban that lasts longer stays; when it is over, denials are counted
-- from none.
local function impose(key, denials, length, attributes)
  local ban = load_ban(key) or {ends = 0, since = now}
  ban.ends, ban.touched, ban.attributes = max(ban.ends, now + length), now, attributes
  save_ban(key, ban)
  call('DEL', denials)
end
