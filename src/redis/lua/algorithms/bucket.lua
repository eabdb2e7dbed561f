-- Mirrors src/core/bucket.h: token_bucket, gcra and leaky_bucket.
--
-- Quota: burst, window, rate, shape (1 or 0).
-- State, a string: "high low touched expiry": what is owed, in units x microseconds of the
-- window and in two limbs, when that was so, and from when on the key is fresh.
local function load(key)
  local high, low, touched, expiry = numbers_of(key)
  if not high then
    return nil
  end
  local state = {high = high, low = low, touched = touched, expiry = expiry}
  if now < state.touched then
    state.expiry, state.touched = state.expiry - (state.touched - now), now
    state.shifted = true
  end
  return state
end

local function save(key, quota, state)
  set(key, format('%.0f %.0f %.0f %.0f', state.high, state.low, state.touched, state.expiry),
      state.expiry)
end

-- What is owed now, and for how much longer at most.
local function see(quota, state)
  if not state or now >= state.expiry then
    return 0, 0, 0
  end
  local drained_high, drained_low = times(quota[3], now - state.touched)
  local high, low = minus(state.high, state.low, drained_high, drained_low)
  if high < 0 or (high == 0 and low == 0) then
    return 0, 0, 0
  end
  return high, low, state.expiry - now
end

-- How long a debt takes to drain; a key is fresh at its expiry anyway.
local function drain_time(rate, high, low, most)
  if high == 0 and low == 0 then
    return 0
  elseif rate == 0 then
    return most
  end
  return min(divide_up(high, low, rate), most)
end

local function counts(quota, state)
  return now < state.expiry
end

local function judge(quota, state, cost, peek)
  local burst, window, rate = quota[1], quota[2], quota[3]
  local high, low, left = see(quota, state)
  local cap_high, cap_low = times(burst, window)
  local after_high, after_low = times(cost, window)
  after_high, after_low = plus(high, low, after_high, after_low)
  local over_high, over_low = minus(after_high, after_low, cap_high, cap_low)
  local reason, wait = 0, 0
  if burst == 0 or rate == 0 then
    reason, wait = LIMIT_ZERO, NEVER
  elseif cost > burst then
    reason, wait = COST_EXCEEDS_CAPACITY, NEVER
  elseif cost > 0 and over_high >= 0 and (over_high > 0 or over_low > 0) then
    reason, wait = QUOTA_EXCEEDED, drain_time(rate, over_high, over_low, left)
  elseif quota[4] == 1 then
    wait = drain_time(rate, high, low, left)
  end
  local charged
  if reason == 0 and cost > 0 and not peek then
    high, low = after_high, after_low
    left = drain_time(rate, high, low, LIMB)
    charged = {high = high, low = low, touched = now, expiry = now + left}
  else
    left = drain_time(rate, high, low, left)
  end
  local room_high, room_low = minus(cap_high, cap_low, high, low)
  local remaining = 0
  if rate > 0 and room_high >= 0 then
    remaining = divide(room_high, room_low, window)
  end
  return reason, remaining, left, wait, charged
end

local function refund(key, quota, state, units)
  local high, low, left = see(quota, state)
  local back_high, back_low = times(units, quota[2])
  high, low = minus(high, low, back_high, back_low)
  if high < 0 or (high == 0 and low == 0) then
    call('DEL', key)
    return
  end
  local drain = drain_time(quota[3], high, low, quota[3] == 0 and left or LIMB)
  save(key, quota, {high = high, low = low, touched = now, expiry = now + drain})
end
