-- Mirrors src/core/sliding_window_log.h. The entries are in entries.lua; their `at` is the time
-- of admission since the origin.
--
-- needs: entries
--
-- Quota: limit, window.
local function end_of_newest(quota, state)
  return state.origin + newest_at(state) + quota[2]
end

local function save(key, quota, state)
  write(key, state, end_of_newest(quota, state))
end

-- Units within the window, and how many of the oldest entries have left it.
local function see(quota, state)
  if not state then
    return 0, 0
  end
  local used, drop = state.used, 0
  local left_before = now - state.origin - quota[2]
  while true do
    local at, units = entry(state, drop + 1)
    if not at or at > left_before then
      return used, drop
    end
    used, drop = used - units, drop + 1
  end
end

local function counts(quota, state)
  return now < end_of_newest(quota, state)
end

local function judge(quota, state, cost, peek)
  local limit, window = quota[1], quota[2]
  local used, drop = see(quota, state)
  local remaining = max(limit - used, 0)
  local left = used > 0 and end_of_newest(quota, state) - now or 0
  if limit == 0 then
    return LIMIT_ZERO, remaining, left, NEVER
  elseif cost > limit then
    return COST_EXCEEDS_CAPACITY, remaining, left, NEVER
  elseif cost > remaining then
    local excess, i, at = used + cost - limit, drop, 0
    while excess > 0 do
      i = i + 1
      local then_at, units = entry(state, i)
      at, excess = then_at, excess - units
    end
    return QUOTA_EXCEEDED, remaining, left, max(state.origin + at + window - now, 0)
  elseif cost == 0 or peek then
    return 0, remaining, left, 0
  end
  local origin = used == 0 and now or state.origin
  return 0, remaining - cost, window, 0,
         charged_at(state, used, drop, origin, now - origin, cost)
end

local function refund(key, quota, state, units)
  local used, drop = see(quota, state)
  local at = give_back(key, state, used, drop, units)
  if at then
    expire(key, state.origin + at + quota[2])
  end
end
