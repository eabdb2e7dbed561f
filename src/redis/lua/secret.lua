-- The secret that all nodes of this Redis share: made once, by whichever of them is the first.
--
-- KEYS[1]. ARGV: what it is to be, if there is none.
-- Reply: what it is.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
