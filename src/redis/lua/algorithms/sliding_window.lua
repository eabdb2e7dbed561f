-- Mirrors src/core/sliding_window.h and src/core/sliding_window.cc. The entries are in entries.lua;
-- their `at` is the number of a segment. Times are counted in 1/segments of a
-- microsecond, in which a segment is one window long.
--
-- needs: entries
--
-- Quota: limit, window, segments, strict (1 or 0).

-- The segment that holds `offset`, and how far into it that is.
local function place_of(quota, offset)
  local high, low = times(offset, quota[3])
  return divide(high, low, quota[2])
end

-- The first whole microsecond at or after `into` within segment `number`.
local function offset_of(quota, number, into)
  local high, low = times(number, quota[2])
  high, low = plus(high, low, 0, into)
  return divide_up(high, low, quota[3])
end

-- What the oldest, partly covered segment weighs.
local function weight_of(quota, units, into)
  if quota[4] == 1 then
    return units
  end
  return share(units, quota[2] - into, quota[2])
end

-- The least `into` at which it weighs at most `spare` < units.
local function into_until_within(quota, units, spare)
  if quota[4] == 1 then
    return quota[2]
  end
  local high, low = times(spare + 1, quota[2])
  return quota[2] - (divide_up(high, low, units) - 1)
end

-- When segment `number` no longer counts.
local function end_of(quota, origin, number)
  return origin + offset_of(quota, number + quota[3] + 1, 0)
end

local function save(key, quota, state)
  write(key, state, end_of(quota, state.origin, newest_at(state)))
end

-- Units used, those in segments that still count with the oldest whole, how many entries are
-- outlived, the origin of the segments, and the number of the one that holds `now`.
local function see(quota, state)
  if state then
    local number, into = place_of(quota, now - state.origin)
    local oldest = number - quota[3]
    local live, partly, drop = state.used, 0, 0
    while true do
      local at, units = entry(state, drop + 1)
      if not at or at >= oldest then
        if at == oldest then
          partly = units
        end
        break
      end
      live, drop = live - units, drop + 1
    end
    if live > 0 then
      return live - partly + weight_of(quota, partly, into), live, drop, state.origin, number
    end
  end
  local past = now % quota[2]
  return 0, 0, 0, now - past, (place_of(quota, past))
end

local function counts(quota, state)
  return now < end_of(quota, state.origin, newest_at(state))
end

-- When at most `spare` units of what is live still count.
local function passes_at(quota, state, live, drop, spare)
  local i, newer = drop, live
  while true do
    i = i + 1
    local at, units = entry(state, i)
    newer = newer - units
    if newer <= spare then
      return state.origin +
             offset_of(quota, at + quota[3], into_until_within(quota, units, spare - newer))
    end
  end
end

local function judge(quota, state, cost, peek)
  local limit = quota[1]
  local used, live, drop, origin, number = see(quota, state)
  local remaining = max(limit - used, 0)
  local left = live > 0 and end_of(quota, origin, newest_at(state)) - now or 0
  if limit == 0 then
    return LIMIT_ZERO, remaining, left, NEVER
  elseif cost > limit then
    return COST_EXCEEDS_CAPACITY, remaining, left, NEVER
  elseif cost > remaining then
    return QUOTA_EXCEEDED, remaining, left,
           max(passes_at(quota, state, live, drop, limit - cost) - now, 0)
  elseif cost == 0 or peek then
    return 0, remaining, left, 0
  end
  return 0, remaining - cost, end_of(quota, origin, number) - now, 0,
         charged_at(state, live, drop, origin, number, cost)
end

local function refund(key, quota, state, units)
  local used, live, drop, origin = see(quota, state)
  local number = give_back(key, state, live, drop, units)
  if number then
    expire(key, end_of(quota, origin, number))
  end
end
