-- Bans a key, or lifts its ban and forgets its denials. Before it stands bans.lua.
--
-- KEYS: the key's ban and its denials, and to lift also those under the rule's former ids.
-- ARGV: time, for how long from now or nothing to lift, and the attributes of the key as its ban
-- keeps them.
-- Reply: the time, and 1 if the key is banned, or was until now.
local length, found = tonumber(ARGV[2]), 0
if length then
  impose(KEYS[1], KEYS[2], length, ARGV[3])
  found = 1
else
  for i = 1, #KEYS, 2 do
    found = load_ban(KEYS[i]) and 1 or found
    call('DEL', KEYS[i], KEYS[i + 1])
  end
end
return {now, found}
