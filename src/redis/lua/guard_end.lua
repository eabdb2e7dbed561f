-- Behind request.lua: counts the denials, as Request::CountDenials() in src/store/request.cc does. A
-- shadow check is no part of a request that others deny: what it would have said counts for nothing.
local reply, bans = decide(), 0
if #reply == 1 then
  return reply
end

-- Whether this denial was the last one that its key takes: then it is banned from now on.
local function counted_out(guard)
  local log, quota = kinds.sliding_window_log, {guard.after, guard.within}
  local reason, remaining, _, _, charged =
      log.judge(quota, log.load(guard.denials), 1, false)
  if reason == 0 and remaining > 0 then
    log.save(guard.denials, quota, charged)
    return false
  end
  impose(guard.ban, guard.denials, guard.lasts, guard.attributes)
  return true
end

local mode, denied = ARGV[2], false
local function is_shadow(check)
  return ARGV[8 * check - 3] == '1'
end
for check = 1, (#reply - 1) / 4 do
  denied = denied or (reply[4 * check - 2] > 0 and not is_shadow(check))
end
for _, guard in ipairs(mode ~= 'peek' and guards or {}) do
  local i = 4 * guard.check - 2
  local counts = reply[i] >= QUOTA_EXCEEDED and reply[i] <= IN_FLIGHT
  if counts and not (mode == 'all' and denied and is_shadow(guard.check)) and
     counted_out(guard) then
    -- This one is the last denial by the limit; who waits for it must wait for the ban too.
    bans = bans + 1
    reply[i + 2] = max(reply[i + 2], guard.lasts)
    reply[i + 3] = wait_of_banned(guard.lasts, reply[i + 3])
  end
end
reply[#reply + 1] = bans
return reply
