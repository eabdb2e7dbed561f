-- Mirrors src/core/sliding_window_counter.cc.
--
-- Quota: limit, window.
-- State, a string: "previous current start touched": the counts of two windows, and where the
-- current one begins.
local function load(key)
  local previous, current, start, touched = numbers_of(key)
  if not previous then
    return nil
  end
  local state = {previous = previous, current = current, start = start, touched = touched}
  if now < state.touched then
    state.start, state.touched = state.start - (state.touched - now), now
    state.shifted = true
  end
  return state
end

-- When both counts are gone.
local function end_of(window, previous, current, start)
  if current > 0 then
    return start + 2 * window
  end
  return previous > 0 and start + window or now
end

local function save(key, quota, state)
  set(key, format('%.0f %.0f %.0f %.0f', state.previous, state.current, state.start,
                  state.touched),
      end_of(quota[2], state.previous, state.current, state.start))
end

-- The counts of the window that holds `now` and of the one before, and where it begins.
local function see(window, state)
  if state then
    local since = now - state.start
    if since < window then
      return state.previous, state.current, state.start
    elseif state.current > 0 and since < 2 * window then
      return state.current, 0, state.start + window
    end
  end
  return 0, 0, now - now % window
end

local function counts(quota, state)
  local previous, current = see(quota[2], state)
  return previous + current > 0
end

-- The least elapsed time at which floor(count * (window - elapsed) / window) <= spare < count.
local function elapsed_until_within(window, count, spare)
  local high, low = times(spare + 1, window)
  return window - (divide_up(high, low, count) - 1)
end

local function judge(quota, state, cost, peek)
  local limit, window = quota[1], quota[2]
  local previous, current, start = see(window, state)
  local used = share(previous, window - (now - start), window) + current
  local remaining = max(limit - used, 0)
  local left = end_of(window, previous, current, start) - now
  if limit == 0 then
    return LIMIT_ZERO, remaining, left, NEVER
  elseif cost > limit then
    return COST_EXCEEDS_CAPACITY, remaining, left, NEVER
  elseif cost > remaining then
    local spare = limit - cost
    local passes
    if current <= spare then
      passes = start + elapsed_until_within(window, previous, spare - current)
    else
      passes = start + window + elapsed_until_within(window, current, spare)
    end
    return QUOTA_EXCEEDED, remaining, left, max(passes - now, 0)
  elseif cost == 0 or peek then
    return 0, remaining, left, 0
  end
  return 0, remaining - cost, start + 2 * window - now, 0,
         {previous = previous, current = current + cost, start = start, touched = now}
end

local function refund(key, quota, state, units)
  local previous, current, start = see(quota[2], state)
  local from_current = min(units, current)
  local from_previous = min(units - from_current, previous)
  current, previous = current - from_current, previous - from_previous
  if current + previous == 0 then
    call('DEL', key)
    return
  end
  save(key, quota, {previous = previous, current = current, start = start, touched = now})
end
