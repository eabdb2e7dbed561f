-- What is remembered of a reset, beside the key: a string, "at until", when it was and until when a
-- charge from before may still count. Mirrors src/store/refund.cc.

-- When the key of this mark was last reset, and until when that matters; nothing if it never was.
local function reset_in(mark)
  local at, ends = match(call('GET', mark) or '', '^(%d+) (%d+)$')
  return tonumber(at), tonumber(ends)
end
