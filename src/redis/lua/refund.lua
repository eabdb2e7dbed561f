-- Gives units back to a key, never above its whole quota. Mirrors RefundKey() in
-- src/store/refund.cc. Before it stand all algorithms' fragments, in `kinds`.
--
-- KEYS: the key, and behind it the key under the rule's former id if it has one.
-- ARGV: time, kind, units, the quota's four values. Of a charge that is given back as it came too late
-- also when it was made and when that stops counting: from then on there is nothing to give back.
-- Reply: the time.
local kind = kinds[ARGV[2]]
local quota = kind.quota(ARGV[4], ARGV[5], ARGV[6], ARGV[7])
local ends = tonumber(ARGV[9])
if not ends or now < ends then
  for _, key in ipairs(KEYS) do
    local state = kind.load(key)
    if state and kind.counts(quota, state) then
      kind.refund(key, quota, state, tonumber(ARGV[3]))
      break
    end
  end
end
return {now}
