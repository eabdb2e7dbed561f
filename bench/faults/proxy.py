#!/usr/bin/env python3
"""Stands between a node and a Redis, and carries bytes as a bad network does.

  proxy.py PORT      PORT: the server's, on the loopback. Prints its own.

Lines of JSON on standard input say what it does from then on: {"delay_ms": [least, most]} for what
the server says, {"cut_after": bytes} of replies: ends that connection, once; {"cut": true} ends
all; {"server": port}: where new connections go. Ends with its input.
"""
import asyncio
import json
import random
import sys


class Proxy:
    def __init__(self, server):
        self.server, self.delay, self.cut_after = server, (0.0, 0.0), None
        self.writers = set()

    def obey(self, order):
        if "delay_ms" in order:
            self.delay = tuple(ms / 1000 for ms in order["delay_ms"])
        if "cut_after" in order:
            self.cut_after = order["cut_after"]
        if "server" in order:
            self.server = order["server"]
        if "cut" in order:
            for writer in list(self.writers):
                writer.transport.abort()

    async def serve(self, reader, writer):
        ends = [writer]
        self.writers.add(writer)
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.server)
            ends.append(server_writer)
            self.writers.add(server_writer)
            pumps = [asyncio.ensure_future(self.ask(reader, server_writer)),
                     asyncio.ensure_future(self.reply(server_reader, writer))]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
        except OSError:
            pass
        for end in ends:
            self.writers.discard(end)
            end.close()

    async def ask(self, reader, writer):
        while data := await reader.read(65536):
            writer.write(data)

    async def reply(self, reader, writer):
        loop, due = asyncio.get_running_loop(), 0.0
        while data := await reader.read(65536):
            if self.cut_after is not None:
                if self.cut_after < len(data):
                    writer.write(data[:self.cut_after])
                    self.cut_after = None
                    return
                self.cut_after -= len(data)
            # What comes later leaves later, also if its delay is shorter.
            due = max(loop.time() + random.uniform(*self.delay), due + 1e-6)
            if due <= loop.time() + 1e-5:
                writer.write(data)
            else:
                loop.call_at(due, writer.write, data)


async def main():
    loop, proxy = asyncio.get_running_loop(), Proxy(int(sys.argv[1]))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        proxy.obey(json.loads(line))


if __name__ == "__main__":
    asyncio.run(main())
