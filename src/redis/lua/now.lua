-- The beginning of every script: the time, and what all fragments share.
--
-- Time is whole microseconds since 1970, read once. ARGV[1] is empty: the server's own clock.
-- Or it is the time itself: then a history is being played, keys get no real expiry, and what
-- is forgotten is forgotten by the times that the states hold.
--
-- Numbers are Lua's doubles and stay whole: below 2^53 they are exact. What may grow beyond
-- that is kept in two limbs (wide.lua). Never tostring() one: it keeps 14 digits.
local call, floor, max, min = redis.call, math.floor, math.max, math.min
local format, match = string.format, string.match

-- Denials, numbered as in include/sluice/decision.h.
local QUOTA_EXCEEDED, COST_EXCEEDS_CAPACITY, LIMIT_ZERO, IN_FLIGHT, RESERVED = 1, 2, 3, 4, 5
-- Waits that are no number.
local NEVER, UNKNOWN = -1, -2

local now, lasting = tonumber(ARGV[1]), false
if not now then
  local time = call('TIME')
  now, lasting = time[1] * 1000000 + time[2], true
end

-- The time left until `ends`, in the milliseconds of PX, never too few.
local function ttl(ends)
  return format('%.0f', max(1, -floor((now - ends) / 1000)))
end

local function expire(key, ends)
  if lasting then
    call('PEXPIRE', key, ttl(ends))
  end
end

-- Writes a state that is one string and is not needed after `ends`.
local function set(key, text, ends)
  if lasting then
    call('SET', key, text, 'PX', ttl(ends))
  else
    call('SET', key, text)
  end
end

-- A key that holds something else is an error, not a fresh key: another program owns it.
local function foreign(key)
  error('the key ' .. key .. ' holds no state of this limiter')
end

-- The four numbers of a state that is one string; nil for a fresh key.
local function numbers_of(key)
  local text = call('GET', key)
  if not text then
    return nil
  end
  local a, b, c, d = match(text, '^(%d+) (%d+) (%d+) (%d+)$')
  if not a then
    foreign(key)
  end
  return tonumber(a), tonumber(b), tonumber(c), tonumber(d)
end

-- Set by the fragment of the algorithm that knows civil time: whether the periods that the node
-- sent are not those in which `now` lies. Then nothing is done, and the node is told the time.
local needs_other_edges

-- The four values of a quota, as a fragment wants them.
local function quota_of(a, b, c, d)
  return {tonumber(a), tonumber(b), tonumber(c), tonumber(d)}
end
