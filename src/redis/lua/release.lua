-- Ends a hold, or renews it. Before it stands the fragment of concurrency.
--
-- KEYS: the key, and behind it the key under the rule's former id if it has one.
-- ARGV: time, the hold's name, and to renew it for how long from now.
-- Reply: the time, and 1 if the hold was there.
local found, length = 0, tonumber(ARGV[3])
for _, key in ipairs(KEYS) do
  local state = load(key)
  if state and release(key, state, ARGV[2], length) then
    found = 1
  end
end
return {now, found}
