-- Who answers a request that may come again, and what it was answered: src/store/answer_records.h.
--
-- The record, a string: "body owner answer", where owner is "=" once there is an answer.
-- KEYS[1]. ARGV: time, verb (claim, keep or drop), owner, body, for how long from now, and the
-- answer.
-- Reply: the time, what was found as Found numbers it, and the answer.
local OURS, ANSWERED, OTHER, PENDING = 0, 1, 2, 3
local key, verb, owner, body = KEYS[1], ARGV[2], ARGV[3], ARGV[4]
local text = call('GET', key)
local its_body, its_owner = match(text or '', '^(%x+) ([%x=]+) ')
if text and not its_body then
  foreign(key)
end
local ours = not text or its_owner == owner
if verb == 'claim' then
  if ours then
    set(key, body .. ' ' .. owner .. ' ', now + tonumber(ARGV[5]))
  elseif its_body ~= body then
    return {now, OTHER, ''}
  elseif its_owner ~= '=' then
    return {now, PENDING, ''}
  else
    return {now, ANSWERED, string.sub(text, #its_body + #its_owner + 3)}
  end
elseif ours and verb == 'keep' then
  set(key, body .. ' = ' .. ARGV[6], now + tonumber(ARGV[5]))
elseif text and ours then
  call('DEL', key)
end
return {now, OURS, ''}
