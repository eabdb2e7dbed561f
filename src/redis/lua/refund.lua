-- Gives units back to a key, never above its whole quota. Mirrors RefundKey() in
-- src/store/refund.cc. Before it stand all algorithms' fragments, in `kinds`.
--
-- KEYS: the key, and behind it the keys under the rule's former ids.
-- ARGV: time, kind, units, the quota's four values. Of a charge that is given back as it came too late
-- also when it was made and when that stops counting: from then on there is nothing to give back.
-- Reply: the time.
local kind = kinds[ARGV[2]]
local quota = kind.quota(ARGV[4], ARGV[5], ARGV[6], ARGV[7])
local ends = tonumber(ARGV[9])
if not ends or now < ends then
  local state = adopted(kind, quota, KEYS[1], {unpack(KEYS, 2)})
  if state and kind.counts(quota, state) then
    kind.refund(KEYS[1], quota, state, tonumber(ARGV[3]))
  end
end
return {now}
