-- Ends a hold, or renews it. Before it stands the fragment of concurrency.
--
-- KEYS: the key, and behind it the keys under the rule's former ids.
-- ARGV: time, the hold's name, and to renew it for how long from now.
-- Reply: the time, and 1 if the hold was there.
local found, length = 0, tonumber(ARGV[3])
adopted({load = load, counts = counts}, nil, KEYS[1], {unpack(KEYS, 2)})
-- Where the own id had holds already, others may be under a former one.
for _, key in ipairs(KEYS) do
  local state = load(key)
  if state and release(key, state, ARGV[2], length) then
    found = 1
  end
end
return {now, found}
