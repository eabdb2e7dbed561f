-- A part of a request whose keys lie in several slots of a cluster: before request.lua. As a whole
-- it is request.lua with one key more, before the others: the record of what this part charged,
-- by which span_undo.lua takes it back if another part was denied.
local record = table.remove(KEYS, 1)
if call('EXISTS', record) == 1 then
  return redis.error_reply('UNDONE the request was taken back before it came')
end
