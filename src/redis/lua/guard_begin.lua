-- Any request of which some checks have bans: before request.lua, which stands in the function
-- `decide` and judges what is banned by a kind that denies whatever is asked.
--
-- KEYS: behind those of request.lua, of each check with a ban the keys of its ban and of its
-- denials, and that of the ban under the rule's former id if it has one.
-- ARGV: behind those of request.lua, of each such check its number, how many denials within what
-- time ban for how long, former (1 or 0) and the attributes of the key as its ban keeps them; last,
-- how many there are.
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

for n = tonumber(pop(ARGV)), 1, -1 do
  local guard = {attributes = pop(ARGV)}
  local former = pop(ARGV) == '1' and pop(KEYS)
  guard.denials = pop(KEYS)
  guard.ban = pop(KEYS)
  guard.lasts = tonumber(pop(ARGV))
  guard.within = tonumber(pop(ARGV))
  guard.after = tonumber(pop(ARGV))
  guard.check = tonumber(pop(ARGV))
  guards[n] = guard
  local ends = max(banned_until(guard.ban), former and banned_until(former) or 0)
  if ends > now then
    local at, banned = 8 * guard.check - 5, {}
    for name, value in pairs(kinds[ARGV[at]]) do
      banned[name] = value
    end
    banned.judge = function() return BANNED, 0, ends - now, ends - now end
    banned.needs_other_edges = nil
    ARGV[at] = 'banned ' .. n
    kinds[ARGV[at]] = banned
  end
end
