-- Makes a key fresh, and remembers when: what was charged before must not be given back. Before it
-- stands reset_mark.lua.
--
-- KEYS: the mark of the reset, and then all that goes: the key, its ban and its denials, each under
-- the rule's own id and its former one.
-- ARGV: time, and for how long from now a charge may still count that was made before; 0: none is
-- ever given back.
-- Reply: the time.
local lasts = tonumber(ARGV[2])
if lasts > 0 then
  local _, earlier = reset_in(KEYS[1])
  local ends = max(now + lasts, earlier or 0)
  set(KEYS[1], format('%.0f %.0f', now, ends), ends)
end
for i = 2, #KEYS do
  call('DEL', KEYS[i])
end
return {now}
