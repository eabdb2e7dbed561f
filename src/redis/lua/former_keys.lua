-- Mirrors src/store/key_guard.h.
--
-- What the key has. A state under a former id of the rule moves to the own one, if that has none,
-- whenever the key is touched: one that is denied until the next rename keeps its state too.
local function adopted(kind, quota, key, formers)
  local own = kind.load(key)
  for _, old in ipairs(formers) do
    if own and kind.counts(quota, own) then
      break
    end
    local former = kind.load(old)
    if former and kind.counts(quota, former) then
      call('RENAME', old, key)
      own = kind.load(key)
    end
  end
  return own
end
