-- Mirrors src/core/concurrency.cc, src/core/reserves.h and src/store/hold_list.cc.
--
-- Quota: limit, hold_ttl, reserves, and the name that a hold gets if it is granted. Reserves are
-- nothing, or the priority of the caller if it has a share, then of each other one " name=slots",
-- and a blank. Names are escaped and begin with ":".
-- State, a hash: "state" is "in_flight next_expiry last_expiry touched". A hold's name has
-- "expiry units" and, where it was granted to a priority with a share, its name followed by ":"
-- has that priority. "shares" is the state that it belongs to, then of each priority in flight
-- "|name=units"; if it belongs to another state, a script without shares wrote that, and they
-- are counted anew.
local function quota_of(a, b, c, name)
  local quota = {tonumber(a), tonumber(b), tonumber(a), name}
  if c ~= '' then
    quota.own, quota.others = match(c, '^[^ ]*'), {}
    for other, slots in string.gmatch(c, ' ([^ =]+)=(%d+)') do
      quota.others[other] = tonumber(slots)
      quota[3] = quota[3] - slots
    end
  end
  return quota
end

local function text_of(state)
  return format('%.0f %.0f %.0f %.0f', state.in_flight, state.next_expiry, state.last_expiry,
                state.touched)
end

-- What is in flight by priority, of the holds whose units are given.
local function shares_among(all, units)
  local shares = {}
  for i = 1, #all, 2 do
    local hold = match(all[i], '^(%d+):$')
    if hold and units[hold] then
      local priority = all[i + 1]
      shares[priority] = (shares[priority] or 0) + units[hold]
    end
  end
  return shares
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
    state.key = key
    return state
  end
  -- A hold has expired, or the clock has stepped back: all are looked through.
  state.shifted = back > 0
  back = max(back, 0)
  state.in_flight, state.next_expiry, state.last_expiry = 0, math.huge, 0
  local all, kept = call('HGETALL', key), {}
  for i = 1, #all, 2 do
    local expiry, units = match(all[i + 1], '^(%d+) (%d+)$')
    if expiry then
      expiry, units = expiry - back, tonumber(units)
      if expiry <= now then
        state.gone[#state.gone + 1] = all[i]
      else
        kept[all[i]] = units
        state.in_flight = state.in_flight + units
        state.next_expiry = min(state.next_expiry, expiry)
        state.last_expiry = max(state.last_expiry, expiry)
        if back > 0 then
          state.added[#state.added + 1] = {all[i], expiry, units}
        end
      end
    end
  end
  state.shares = shares_among(all, kept)
  state.touched = min(state.touched, now)
  return state
end

-- The shares that are stored with a state; nil where they belong to another one.
local function stored_shares(state)
  local of, list = match(state.key and call('HGET', state.key, 'shares') or '', '^([%d ]+)(.*)$')
  if of ~= text_of(state) then
    return nil
  end
  local shares = {}
  for name, units in string.gmatch(list, '|([^=]+)=(%d+)') do
    shares[name] = tonumber(units)
  end
  return shares
end

-- Of each priority the units in flight. Where a request has changed a state without the shares,
-- they are taken for nothing: then all that is reserved is kept.
local function shares_of(state)
  state.shares = state.shares or stored_shares(state)
  if not state.shares and state.key then
    local all, units = call('HGETALL', state.key), {}
    for i = 1, #all, 2 do
      units[all[i]] = tonumber(match(all[i + 1], '^%d+ (%d+)$'))
    end
    state.shares = shares_among(all, units)
  end
  return state.shares or {}
end

local function save(key, quota, state)
  if state.in_flight == 0 then
    call('DEL', key)
    return
  end
  for _, hold in ipairs(state.gone) do
    call('HDEL', key, hold, hold .. ':')
  end
  for _, hold in ipairs(state.added) do
    call('HSET', key, hold[1], format('%.0f %.0f', hold[2], hold[3]))
    if hold[4] then
      call('HSET', key, hold[1] .. ':', hold[4])
    end
  end
  local text = text_of(state)
  if state.shares then
    local shares = {text}
    for name, units in pairs(state.shares) do
      if units > 0 then
        shares[#shares + 1] = '|' .. name .. '=' .. format('%.0f', units)
      end
    end
    call('HSET', key, 'state', text, 'shares', table.concat(shares))
  else
    call('HSET', key, 'state', text)
  end
  if lasting then
    call('PEXPIRE', key, ttl(state.last_expiry))
  end
end

local function counts(quota, state)
  return state.in_flight > 0
end

local function judge(quota, state, cost, peek)
  local limit, ceiling = quota[1], quota[3]
  local in_flight, left, shares, kept = 0, 0, {}, 0
  if state and state.in_flight > 0 then
    in_flight, left = state.in_flight, state.last_expiry - now
    shares = quota.others and shares_of(state) or shares
  end
  for name, slots in pairs(quota.others or {}) do
    kept = kept + max(slots - (shares[name] or 0), 0)
  end
  local remaining = max(limit - in_flight - kept, 0)
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
  local own = quota.own ~= '' and quota.own or nil
  charged.added[#charged.added + 1] = {quota[4], expiry, cost, own}
  if quota.others then
    charged.shares = {}
    for name, units in pairs(shares) do
      charged.shares[name] = units
    end
    if own then
      charged.shares[own] = (charged.shares[own] or 0) + cost
    end
  end
  return 0, remaining - cost, charged.last_expiry - now, 0, charged
end

local function refund()
end

-- When the last hold of a state but `hold` expires; `added` are those that are not stored so.
local function last_expiry_but(key, state, hold, added)
  local last, gone = 0, {[hold] = true}
  for _, name in ipairs(state.gone) do
    gone[name] = true
  end
  for _, moved in ipairs(added) do
    gone[moved[1]], last = true, max(last, moved[2])
  end
  local all = call('HGETALL', key)
  for i = 1, #all, 2 do
    local expiry = match(all[i + 1], '^(%d+) %d+$')
    if expiry and not gone[all[i]] then
      last = max(last, tonumber(expiry))
    end
  end
  return last
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
  local priority = call('HGET', key, hold .. ':')
  state.shares = state.shares or stored_shares(state)
  local added = {}
  for _, moved in ipairs(state.added) do
    if moved[1] ~= hold then
      added[#added + 1] = moved
    end
  end
  state.added, state.touched = added, now
  if tonumber(expiry) >= state.last_expiry then
    state.last_expiry = last_expiry_but(key, state, hold, added)
  end
  if length then
    added[#added + 1] = {hold, now + length, tonumber(units)}
    state.next_expiry = min(state.next_expiry, now + length)
    state.last_expiry = max(state.last_expiry, now + length)
  else
    state.gone[#state.gone + 1] = hold
    state.in_flight = state.in_flight - units
    if state.shares and priority then
      state.shares[priority] = (state.shares[priority] or 0) - units
    end
  end
  save(key, nil, state)
  return true
end
