#!/usr/bin/env python3
"""What a check costs in CPU, beside a socket that sends and receives the same bytes.

    clients/python/bench.py SLUICE [CHECKS]

The difference is the client's own work: making the request, reading the answer, breaker and pool. The times are those of this
process alone (user and system), so the daemon's do not count. The best of five rounds is shown.
"""
import asyncio
import os
import pathlib
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "src"), str(HERE / "tests")]
os.environ["SLUICE"] = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)

from support import Daemon  # noqa: E402

from sluice_client import AsyncClient, Check, Client  # noqa: E402

COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
USER = {"user_id": "u_42", "endpoint": "/page", "ip": "10.0.0.1"}


def microseconds(work):
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best / COUNT * 1e6


def main():
    daemon = Daemon()
    try:
        client = Client(daemon.url, timeout=10, retries=0)
        keyed = Client(daemon.url, timeout=10)
        aclient = AsyncClient(daemon.url, timeout=10, retries=0)
        request = client._verbs.post("check", '{"attributes":{"user_id":"u_42","endpoint":"/page","ip":"10.0.0.1"},"cost":1}')
        bare = socket.create_connection(("127.0.0.1", daemon.port))
        bare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def exchange():
            for _ in range(COUNT):
                bare.sendall(request)
                bare.recv(65536)

        def check(of):
            for _ in range(COUNT):
                of.check(USER)

        async def achecks():
            for _ in range(COUNT):
                await aclient.check(USER)

        batch = [Check(USER)] * 100

        def batches():
            for _ in range(COUNT // 100):
                client.check_many(batch)

        class Bare(asyncio.Protocol):
            def data_received(self, data):
                self.answer.set_result(data)

        async def aexchange():
            loop = asyncio.get_running_loop()
            transport, protocol = await loop.create_connection(Bare, "127.0.0.1", daemon.port)
            for _ in range(COUNT):
                protocol.answer = loop.create_future()
                transport.write(request)
                await protocol.answer
            transport.close()

        floor, afloor = microseconds(exchange), microseconds(lambda: asyncio.run(aexchange()))
        print("%-42s %6.1f µs" % ("the same bytes over a socket", floor))
        print("%-42s %6.1f µs" % ("the same bytes over asyncio", afloor))
        for name, work, base in (
            ("Client.check", lambda: check(client), floor), ("Client.check with an idempotency key", lambda: check(keyed), floor),
            ("AsyncClient.check", lambda: asyncio.run(achecks()), afloor), ("Client.check_many, 100 at once", batches, 0.0),
        ):
            cost = microseconds(work)
            print("%-42s %6.1f µs, beyond the bytes alone %6.1f µs" % (name, cost, cost - base))
        bare.close()
    finally:
        daemon.close()


if __name__ == "__main__":
    main()
