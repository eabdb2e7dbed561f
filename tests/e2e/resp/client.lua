-- What a Lua program says to a Redis server, said to Sluice. Usage: client.lua HOST PORT PASSWORD
local redis = require('redis')

local function expect(got, wanted, what)
  if type(got) == 'table' then
    got = table.concat(got, ' ')
  end
  if tostring(got) ~= wanted then
    error(what .. ": got '" .. tostring(got) .. "' and not '" .. wanted .. "'")
  end
end

redis.commands.throttle = redis.command('CL.THROTTLE')
local client = redis.connect(arg[1], tonumber(arg[2]))
expect(client:auth(arg[3]), 'true', 'auth')
expect(client:ping(), 'true', 'ping')
expect(client:echo('hi'), 'hi', 'echo')
expect(client:throttle('lua:1', 1, 1, 60), '0 2 1 -1 60', 'first')
expect(client:throttle('lua:1', 1, 1, 60), '0 2 0 -1 120', 'second')
expect(client:throttle('lua:1', 1, 1, 60)[1], '1', 'third')
local ok, problem = pcall(client.throttle, client, 'lua:1', 1, 0, 60)
if ok or not tostring(problem):find('count must be a whole number from 1', 1, true) then
  error('an error: ' .. tostring(problem))
end
local replies = client:pipeline(function(p)
  for i = 1, 200 do
    p:throttle('lua:2', 999, 1, 60)
  end
end)
expect(#replies, '200', 'pipeline')
for i = 1, 200 do
  expect(replies[i][3], tostring(1000 - i), 'pipelined ' .. i)
end
client:quit()
print('lua: ok')
