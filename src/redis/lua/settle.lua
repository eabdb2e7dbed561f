-- Says once what a charge cost in the end. Mirrors src/store/refund.cc. Before it stand all
-- algorithms' fragments, in `kinds`, and reset_mark.lua.
--
-- KEYS: the key, behind it the keys under the rule's former ids, then the marks of their resets, and
-- last the mark that remembers at what the charge is settled.
-- ARGV: time, kind, the units that were charged and those that it cost, the quota's four values,
-- when it was charged, when that stops counting, and until when it may be settled; nothing: as long
-- as it counts.
-- Reply: the time, and at what it is settled; -1 if it was charged later than now.
local kind, mark = kinds[ARGV[2]], KEYS[#KEYS]
local charged, settled = tonumber(ARGV[3]), tonumber(ARGV[4])
local at, counts_until, ids = tonumber(ARGV[9]), tonumber(ARGV[10]), (#KEYS - 1) / 2
for i = ids + 1, 2 * ids do
  local reset = reset_in(KEYS[i])
  if reset and at <= reset then
    counts_until = min(counts_until, reset)
  end
end
local open_until = tonumber(ARGV[11]) or counts_until
if at > now then
  return {now, -1}
elseif now >= max(counts_until, open_until) then
  return {now, charged}
end
local said = call('GET', mark)
if said then
  return {now, tonumber(said)}
end
if now >= open_until then
  settled = charged
end
set(mark, format('%.0f', settled), max(counts_until, open_until))

-- Where the key's state is, if it has any.
local quota = kind.quota(ARGV[5], ARGV[6], ARGV[7], ARGV[8])
local state = adopted(kind, quota, KEYS[1], {unpack(KEYS, 2, ids)})
if state and not kind.counts(quota, state) then
  state = nil
end
if settled < charged and now < counts_until and state then
  kind.refund(KEYS[1], quota, state, charged - settled)
elseif settled > charged then
  -- Whatever the limit: what is above it is paid back before the next grant.
  local boundless = kind.quota('999999999999999', ARGV[6], ARGV[7], ARGV[8])
  local _, _, _, _, after = kind.judge(boundless, state, settled - charged, false)
  if after then
    kind.save(KEYS[1], boundless, after)
  end
end
return {now, settled}
