-- Mirrors src/store/entry_list.h: the entries of sliding_window_log and sliding_window.
--
-- A list: first "used origin touched", the sum of all entries, from where they count, and when
-- it was written; then the entries, oldest first, each "at units". A clock that steps back moves
-- the origin and no entry.
--
-- A state is what is stored and what is to become of it: the oldest `drop` entries go, and
-- `add` units come in at `add_at`, into the newest entry if that has the same `at`. Where
-- `stored` is nil nothing of what is stored is kept.
local CHUNK = 32

local function load(key)
  local head = call('LRANGE', key, 0, CHUNK)
  if #head == 0 then
    return nil
  end
  local used, origin, touched = match(head[1], '^(%d+) (%d+) (%d+)$')
  if not used then
    foreign(key)
  end
  local at, units = {}, {}
  for i = 2, #head do
    local a, u = match(head[i], '^(%d+) (%d+)$')
    at[i - 1], units[i - 1] = tonumber(a), tonumber(u)
  end
  local state = {used = tonumber(used), origin = tonumber(origin), touched = tonumber(touched),
                 drop = 0, add = 0, add_at = -1,
                 stored = {key = key, at = at, units = units, ended = #head <= CHUNK}}
  if now < state.touched then
    state.origin, state.touched = state.origin - (state.touched - now), now
    state.shifted = true
  end
  return state
end

-- The stored entry `i`, nil behind the newest. The first are there, others are read as asked for.
local function stored_entry(stored, i)
  local at, units = stored.at, stored.units
  if not at[i] and not stored.ended then
    local first = #at + 1
    local last = first + 16 * CHUNK - 1
    local more = call('LRANGE', stored.key, first, last)
    for j = 1, #more do
      local a, u = match(more[j], '^(%d+) (%d+)$')
      at[first + j - 1], units[first + j - 1] = tonumber(a), tonumber(u)
    end
    stored.ended = #more < 16 * CHUNK
  end
  return at[i], units[i]
end

local function stored_newest(stored)
  if stored.ended then
    return stored.at[#stored.at], stored.units[#stored.at]
  end
  if not stored.newest_at then
    local a, u = match(call('LINDEX', stored.key, -1), '^(%d+) (%d+)$')
    stored.newest_at, stored.newest_units = tonumber(a), tonumber(u)
  end
  return stored.newest_at, stored.newest_units
end

-- The entry `i` of a state, the oldest that is kept being 1; nil behind the newest.
local function entry(state, i)
  local stored, behind = state.stored, i
  if stored then
    local at, units = stored_entry(stored, state.drop + i)
    if at then
      return at, at == state.add_at and units + state.add or units
    end
    if stored.at[#stored.at] == state.add_at then
      return nil
    end
    behind = state.drop + i - #stored.at
  end
  if behind == 1 and state.add > 0 then
    return state.add_at, state.add
  end
  return nil
end

-- Where the newest entry of a state that has one stands.
local function newest_at(state)
  if state.add > 0 then
    return state.add_at
  end
  return (stored_newest(state.stored))
end

local function head_of(state)
  return format('%.0f %.0f %.0f', state.used, state.origin, state.touched)
end

local function write(key, state, ends)
  local stored = state.stored
  if not stored then
    call('DEL', key)
    call('RPUSH', key, head_of(state), format('%.0f %.0f', state.add_at, state.add))
  else
    if state.drop > 0 then
      call('LTRIM', key, state.drop + 1, -1)  -- The head goes too.
      call('LPUSH', key, head_of(state))
    else
      call('LSET', key, 0, head_of(state))
    end
    if state.add > 0 then
      local at, units = stored_newest(stored)
      if at == state.add_at then
        call('LSET', key, -1, format('%.0f %.0f', at, units + state.add))
      else
        call('RPUSH', key, format('%.0f %.0f', state.add_at, state.add))
      end
    end
  end
  expire(key, ends)
end

-- What a state becomes that is charged at `at`, of which the first `drop` entries and all but
-- `kept` units are gone.
local function charged_at(state, kept, drop, origin, at, cost)
  if kept == 0 then
    return {used = cost, origin = origin, touched = now, drop = 0, add = cost, add_at = at}
  end
  return {used = kept + cost, origin = origin, touched = now, stored = state.stored,
          drop = state.drop + drop, add = state.add + cost, add_at = at}
end

-- Gives back `take` of the `used` units: takes them from the newest of the stored entries, and drops
-- the oldest `drop`. Returns `at` of the newest that is left; nil if none is, and the key is gone.
local function give_back(key, state, used, drop, take)
  if take >= used then
    call('DEL', key)
    return nil
  end
  state.used, state.touched = used - take, now
  while true do
    local at, units = match(call('LINDEX', key, -1), '^(%d+) (%d+)$')
    at, units = tonumber(at), tonumber(units)
    if units > take then
      if take > 0 then
        call('LSET', key, -1, format('%.0f %.0f', at, units - take))
      end
      call('LTRIM', key, drop + 1, -1)
      call('LPUSH', key, head_of(state))
      return at
    end
    take = take - units
    call('RPOP', key)
  end
end
