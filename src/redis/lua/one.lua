-- One check of one key: the fast path. Before it stands one algorithm's fragment.
--
-- KEYS[1]. ARGV: time, peek (1 or 0), cost, and the quota's four values.
-- Reply: time, code, remaining, reset_after, wait. code: the reason of a denial; 0 where it
-- passes; -1 where it was charged too. wait: of a denial its retry_after, NEVER and UNKNOWN
-- included; else how long to hold the request back. Or the time alone: the calendar's edges are
-- not those that are needed, and nothing was done.
local quota = quota_of(ARGV[4], ARGV[5], ARGV[6], ARGV[7])
if needs_other_edges and needs_other_edges(quota) then
  return {now}
end
local state = load(KEYS[1])
local reason, remaining, left, wait, charged =
    judge(quota, state, tonumber(ARGV[3]), ARGV[2] == '1')
if charged then
  save(KEYS[1], quota, charged)
  reason = -1
elseif state and state.shifted then
  save(KEYS[1], quota, state)
end
return {now, reason, remaining, left, wait}
