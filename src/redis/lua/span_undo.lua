-- Takes back what a part of a request charged (span_begin.lua), once; a part that has not come yet
-- finds that it was taken back. Before it stand all algorithms' fragments, in `kinds`.
--
-- KEYS: the record, and of each check its key. ARGV: time, then six of each check: kind, cost and
-- the quota's four values; of concurrency the fourth is the hold.
-- Reply: the time.
local record = table.remove(KEYS, 1)
local charged = call('GET', record) or ''
call('SET', record, '', 'PX', '60000')
local n = 0
for ends in string.gmatch(charged, '%d+') do
  n = n + 1
  if now < tonumber(ends) then
    local key, i = KEYS[n], 6 * n - 4
    local kind = kinds[ARGV[i]]
    local quota = kind.quota(ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
    local state = kind.load(key)
    if state and kind.release then
      kind.release(key, state, ARGV[i + 5])
    elseif state and kind.counts(quota, state) then
      kind.refund(key, quota, state, tonumber(ARGV[i + 1]))
    end
  end
end
return {now}
