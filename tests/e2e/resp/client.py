#!/usr/bin/env python3
"""What a Python program says to a Redis server, said to Sluice. Usage: client.py PARSER PORT PASSWORD"""
import sys

import redis
import redis.connection

parser, port, password = getattr(redis.connection, sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def expect(got, wanted):
    assert got == wanted, "got %r and not %r" % (got, wanted)


def raises(error, text, call, *arguments):
    try:
        call(*arguments)
    except error as problem:
        assert text in str(problem), problem
        return
    raise AssertionError("no %s" % error)


pool = redis.ConnectionPool(port=port, password=password, db=0, client_name="python",
                            parser_class=parser, decode_responses=True)
client = redis.Redis(connection_pool=pool)
key = "python:" + sys.argv[1]
expect(client.ping(), True)
expect(client.client_getname(), "python")
expect(client.echo("hi"), "hi")
expect("sluice_version" in client.info(), True)
expect("cl.throttle" in client.command(), True)

expect(client.execute_command("CL.THROTTLE", key, 1, 1, 60), [0, 2, 1, -1, 60])
raises(redis.ResponseError, "count must be", client.execute_command, "CL.THROTTLE", key, 1, 0, 60)
pipe = client.pipeline(transaction=False)
for _ in range(500):
    pipe.execute_command("CL.THROTTLE", key + ":deep", 999, 1, 60)
expect([reply[2] for reply in pipe.execute()], list(range(999, 499, -1)))

answer = client.execute_command("SLUICE.CHECK", "api", "user_id=" + key, "COST", 2)
answer = dict(zip(answer[::2], answer[1::2]))
expect((answer["allowed"], answer["remaining"]), (1, 98))
expect(client.execute_command("SLUICE.REFUND", "api", "user_id=" + key), 1)

stranger = redis.Redis(port=port, password="wrong")
raises(redis.ResponseError, "WRONGPASS invalid username-password", stranger.ping)
print("python: ok")
