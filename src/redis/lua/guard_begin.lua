-- Any request of which some checks have bans: before request.lua, which stands in the function
-- `decide` and judges what is banned by a kind that denies whatever is asked.
--
-- KEYS: behind those of request.lua, of each check with a ban the keys of its ban and of its
-- denials, under the rule's id and then under each of its former ids.
-- ARGV: behind those of request.lua, of each such check its number, how many denials within what
-- time ban for how long, how many former ids there are, and the attributes of the key as its ban
-- keeps them; last, how many there are.
-- Reply: as of request.lua, and last how many keys this request has banned.
local guards = {}

kinds.unlimited = {
  quota = quota_of,
  load = function() end,
  judge = function() return 0, 0, 0, 0 end,
}

local function pop(list)
  return table.remove(list)
end

-- Who is banned waits for the end of the ban and for the limit.
local function judge_of_banned(kind, ends)
  return function(quota, state, cost)
    local reason, _, left, wait = kind.judge(quota, state, cost, true)
    return BANNED, 0, max(left, ends - now), wait_of_banned(ends - now, reason == 0 and 0 or wait)
  end
end

for n = tonumber(pop(ARGV)), 1, -1 do
  local guard, formers = {attributes = pop(ARGV)}, {}
  for i = tonumber(pop(ARGV)), 1, -1 do
    formers[i] = {denials = pop(KEYS)}
    formers[i].ban = pop(KEYS)
  end
  guard.denials = pop(KEYS)
  guard.ban = pop(KEYS)
  guard.lasts = tonumber(pop(ARGV))
  guard.within = tonumber(pop(ARGV))
  guard.after = tonumber(pop(ARGV))
  guard.check = tonumber(pop(ARGV))
  guards[n] = guard
  for _, former in ipairs(formers) do
    adopt_ban(guard.ban, former.ban)
    adopted(kinds.sliding_window_log, {guard.after, guard.within}, guard.denials,
            {former.denials})
  end
  local ends = banned_until(guard.ban)
  if ends > now then
    local at, banned = 8 * guard.check - 5, {}
    for name, value in pairs(kinds[ARGV[at]]) do
      banned[name] = value
    end
    banned.judge = judge_of_banned(kinds[ARGV[at]], ends)
    ARGV[at] = 'banned ' .. n
    kinds[ARGV[at]] = banned
  end
end
