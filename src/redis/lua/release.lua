-- Ends a hold. Before it stands the fragment of concurrency.
--
-- KEYS: the key, and behind it the key under the rule's former id if it has one.
-- ARGV: time, the hold's name.
-- Reply: the time, and 1 if the hold was there.
local released = 0
for _, key in ipairs(KEYS) do
  local state = load(key)
  if state and release(key, state, ARGV[2]) then
    released = 1
  end
end
return {now, released}
