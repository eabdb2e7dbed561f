-- A page of all bans that this server has; in a cluster every server is asked. Before it stands
-- bans.lua.
--
-- ARGV: time, and where the page begins.
-- Reply: the time, where the next page begins ("0": there is none), then of each ban its key, until
-- when, since when, and the attributes that it keeps. A key may come twice, on other pages too.
local page = call('SCAN', ARGV[2], 'MATCH', 'sl1:{*}:*:ban:*', 'COUNT', 500)
local reply = {now, page[1]}
for _, key in ipairs(page[2]) do
  if match(key, '^sl1:{%x+}:[%w._-]+:ban:') then
    local read, ban = pcall(load_ban, key)
    if read and ban then
      local n = #reply
      reply[n + 1], reply[n + 2] = key, ban.ends
      reply[n + 3], reply[n + 4] = ban.since, ban.attributes
    end
  end
end
return reply
