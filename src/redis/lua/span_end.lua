-- Behind request.lua, which stands in the function `decide`. The record says of each check by when
-- what it charged stops counting anyway; 0 where it charged nothing. It outlives whoever might still
-- take the request back, and not much more.
local reply, charged, any = decide(), {}, false
for i = 2, #reply - 3, 4 do
  any = any or reply[i] == -1
  charged[#charged + 1] = format('%.0f', reply[i] == -1 and now + reply[i + 2] or 0)
end
if any then
  call('SET', record, table.concat(charged, ' '), 'PX', '60000')
end
return reply
