-- One node's entry among those that share this Redis, refreshed by it while it lives: so each knows
-- how many there are, and its share of a quota while Redis is away (src/service/fallback.h).
--
-- KEYS[1]. ARGV: the node's name, and after how many seconds it is gone unless it comes again.
-- Reply: how many nodes there are.
local now = redis.call('TIME')[1]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now - ARGV[2]))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[2] * 1000))
return redis.call('ZCARD', KEYS[1])
