-- Gives units back to a key, never above its whole quota. Mirrors RefundKey() in
-- src/store/refund.cc. Before it stand all algorithms' fragments, in `kinds`, and reset_mark.lua.
--
-- KEYS: the key, and behind it the key under the rule's former id if it has one. Of a charge that is
-- given back as it came too late behind them the marks of their resets.
-- ARGV: time, kind, units, the quota's four values. Of such a charge also when it was made and when
-- that stops counting: from then on, and after a reset, there is nothing to give back.
-- Reply: the time.
local kind = kinds[ARGV[2]]
local quota = kind.quota(ARGV[4], ARGV[5], ARGV[6], ARGV[7])
local at, ends, ids = tonumber(ARGV[8]), tonumber(ARGV[9]), #KEYS
if at then
  ids = #KEYS / 2
  for i = ids + 1, #KEYS do
    local reset = reset_in(KEYS[i])
    ends = reset and at <= reset and reset or ends
  end
end
if not ends or now < ends then
  for i = 1, ids do
    local state = kind.load(KEYS[i])
    if state and kind.counts(quota, state) then
      kind.refund(KEYS[i], quota, state, tonumber(ARGV[3]))
      break
    end
  end
end
return {now}
