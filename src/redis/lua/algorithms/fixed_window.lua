-- Mirrors src/core/fixed_window.cc.
--
-- Quota: limit, window, 0, 0; or, by the calendar: limit and the edges of two periods, begin,
-- middle, end. Outside of those the node is asked for others: see one.lua.
-- State, a string: "used end wall_end touched". The window is over at the earlier end; the two
-- differ once the clock has stepped back, which moves the first and not the second.
local function load(key)
  local used, ends, wall_ends, touched = numbers_of(key)
  if not used then
    return nil
  end
  local state = {used = used, ends = ends, wall_ends = wall_ends, touched = touched}
  if now < state.touched then
    state.ends, state.touched = state.ends - (state.touched - now), now
    state.shifted = true
  end
  return state
end

local function save(key, quota, state)
  set(key, format('%.0f %.0f %.0f %.0f', state.used, state.ends, state.wall_ends, state.touched),
      min(state.ends, state.wall_ends))
end

-- Units used in the window that runs, and what is left of it; 0 and 0 for a fresh key.
local function see(state)
  if not state then
    return 0, 0
  end
  local left = min(state.ends, state.wall_ends) - now
  if left <= 0 then
    return 0, 0
  end
  return state.used, left
end

local function end_of(quota)
  if quota[4] == 0 then
    return now - now % quota[2] + quota[2]
  end
  return now < quota[3] and quota[3] or quota[4]
end

function needs_other_edges(quota)
  return quota[4] ~= 0 and (now < quota[2] or now >= quota[4])
end

local function counts(quota, state)
  return select(2, see(state)) > 0
end

local function judge(quota, state, cost, peek)
  local limit = quota[1]
  local used, left = see(state)
  local remaining = max(limit - used, 0)
  if limit == 0 then
    return LIMIT_ZERO, remaining, left, NEVER
  elseif cost > limit then
    return COST_EXCEEDS_CAPACITY, remaining, left, NEVER
  elseif cost > remaining then
    return QUOTA_EXCEEDED, remaining, left, left
  elseif cost == 0 or peek then
    return 0, remaining, left, 0
  end
  if used > 0 then
    return 0, remaining - cost, left, 0,
           {used = used + cost, ends = state.ends, wall_ends = state.wall_ends, touched = now}
  end
  local ends = end_of(quota)
  return 0, remaining - cost, ends - now, 0,
         {used = cost, ends = ends, wall_ends = ends, touched = now}
end

local function refund(key, quota, state, units)
  local used = see(state)
  if used <= units then
    call('DEL', key)
    return
  end
  state.used, state.touched = used - units, now
  save(key, quota, state)
end
