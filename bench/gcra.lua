-- The classic GCRA as a Redis script, to measure beside CL.THROTTLE. KEYS[1], ARGV: microseconds
-- for one unit, units at once. Answers allowed (0 or 1), units left, microseconds to wait.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = tonumber(ARGV[1])
local capacity = interval * ARGV[2]
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
local next = math.max(tat, now) + interval
if next - capacity > now then
  return {1, math.floor((capacity - (tat - now)) / interval), next - capacity - now}
end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return {0, math.floor((capacity - (next - now)) / interval), 0}
