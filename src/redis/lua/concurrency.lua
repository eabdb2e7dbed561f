-- Mirrors src/core/concurrency.cc and src/store/hold_list.cc.
--
-- Quota: limit, hold_ttl, ceiling, and the name that a hold gets if it is granted.
-- State, a hash: "state" is "in_flight next_expiry last_expiry touched"; every other field is
-- the name of a hold and has "expiry units".
local function quota_of(a, b, c, name)
  return {tonumber(a), tonumber(b), tonumber(c), name}
end

local function load(key)
  local text = call('HGET', key, 'state')
  if not text then
    if call('EXISTS', key) == 1 then
      foreign(key)
    end
    return nil
  end
  local in_flight, next_expiry, last_expiry, touched = match(text, '^(%d+) (%d+) (%d+) (%d+)$')
  local state = {in_flight = tonumber(in_flight), next_expiry = tonumber(next_expiry),
                 last_expiry = tonumber(last_expiry), touched = tonumber(touched), gone = {},
                 added = {}}
  local back = state.touched - now
  if back <= 0 and now < state.next_expiry then
    return state
  end
  -- A hold has expired, or the clock has stepped back: all are looked through.
  state.shifted = back > 0
  back = max(back, 0)
  state.in_flight, state.next_expiry, state.last_expiry = 0, math.huge, 0
  local all = call('HGETALL', key)
  for i = 1, #all, 2 do
    local expiry, units = match(all[i + 1], '^(%d+) (%d+)$')
    if expiry then
      expiry, units = expiry - back, tonumber(units)
      if expiry <= now then
        state.gone[#state.gone + 1] = all[i]
      else
        state.in_flight = state.in_flight + units
        state.next_expiry = min(state.next_expiry, expiry)
        state.last_expiry = max(state.last_expiry, expiry)
        if back > 0 then
          state.added[#state.added + 1] = {all[i], expiry, units}
        end
      end
    end
  end
  state.touched = min(state.touched, now)
  return state
end

local function save(key, quota, state)
  if state.in_flight == 0 then
    call('DEL', key)
    return
  end
  for _, hold in ipairs(state.gone) do
    call('HDEL', key, hold)
  end
  for _, hold in ipairs(state.added) do
    call('HSET', key, hold[1], format('%.0f %.0f', hold[2], hold[3]))
  end
  call('HSET', key, 'state', format('%.0f %.0f %.0f %.0f', state.in_flight, state.next_expiry,
                                    state.last_expiry, state.touched))
  if lasting then
    call('PEXPIRE', key, ttl(state.last_expiry))
  end
end

local function counts(quota, state)
  return state.in_flight > 0
end

local function judge(quota, state, cost, peek)
  local limit, ceiling = quota[1], quota[3]
  local in_flight, left = 0, 0
  if state and state.in_flight > 0 then
    in_flight, left = state.in_flight, state.last_expiry - now
  end
  local remaining = max(ceiling - in_flight, 0)
  if limit == 0 then
    return LIMIT_ZERO, remaining, left, NEVER
  elseif cost > limit then
    return COST_EXCEEDS_CAPACITY, remaining, left, NEVER
  elseif cost > ceiling then
    return RESERVED, remaining, left, NEVER
  elseif cost > remaining then
    return cost <= limit - in_flight and RESERVED or IN_FLIGHT, remaining, left, UNKNOWN
  elseif cost == 0 or peek then
    return 0, remaining, left, 0
  end
  local expiry = now + quota[2]
  local charged = {in_flight = in_flight + cost, next_expiry = expiry, last_expiry = expiry,
                   touched = now, gone = state and state.gone or {}, added = {}}
  if in_flight > 0 then
    charged.next_expiry = min(state.next_expiry, expiry)
    charged.last_expiry = max(state.last_expiry, expiry)
  end
  for i, hold in ipairs(state and state.added or charged.added) do
    charged.added[i] = hold
  end
  charged.added[#charged.added + 1] = {quota[4], expiry, cost}
  return 0, remaining - cost, charged.last_expiry - now, 0, charged
end

local function refund()
end

-- Whether the hold was there. With a length it is not released: it expires that long from now.
local function release(key, state, hold, length)
  local expiry, units = match(call('HGET', key, hold) or '', '^(%d+) (%d+)$')
  if not expiry then
    return false
  end
  for _, gone in ipairs(state.gone) do
    if gone == hold then
      return false
    end
  end
  local added = {}
  for _, moved in ipairs(state.added) do
    if moved[1] ~= hold then
      added[#added + 1] = moved
    end
  end
  state.added, state.touched = added, now
  if length then
    added[#added + 1] = {hold, now + length, tonumber(units)}
    state.next_expiry = min(state.next_expiry, now + length)
    state.last_expiry = max(state.last_expiry, now + length)
  else
    state.gone[#state.gone + 1] = hold
    state.in_flight = state.in_flight - units
  end
  save(key, nil, state)
  return true
end
