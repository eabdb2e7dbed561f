#!/usr/bin/env python3
"""Clients of a server that limits rates, in virtual time: what they lose to 429, and to waiting, against an oracle.

    clients/simulation/simulate.py            prints the table of README.md
    clients/simulation/simulate.py --check    fails if README.md has another table

20 workers send 600 requests that take 50 ms each, of which the server admits 100 per 10 s. The oracle knows the algorithm and its
state, and sends each request at the first moment at which it is admitted. The Throttle is that of clients/python.
"""
import heapq
import itertools
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "python" / "src"))

from adaptive import AdaptiveRate  # noqa: E402
from servers import FIELDS, SERVERS, answer  # noqa: E402

from sluice_client import Clock, Policy, Throttle  # noqa: E402

WORKERS, REQUESTS, LATENCY = 20, 600, 0.05
POLICY = Policy(max_attempts=1000, cap=60.0)


class Time(Clock):
    """Virtual time, and chance that is the same in each run."""

    def __init__(self):
        self.now, self._random = 0.0, random.Random(25)

    def monotonic(self):
        return self.now

    def time(self):
        return 1795953600.0 + self.now

    def random(self):
        return self._random.random()


class World:
    """A server, its clients' clock, and what they lost."""

    def __init__(self, server, fields):
        self.server, self.fields, self.clock, self.refused = server, fields, Time(), 0

    def exchange(self):
        """Sends one request: yields the time that it takes, and gives the status and the fields of the response."""
        yield LATENCY / 2
        status, fields = answer(self.server, self.clock.now, self.clock.time(), self.fields)
        self.refused += status == 429
        yield LATENCY / 2
        return status, fields

    def run(self, strategy):
        """Does all requests, and gives the time that they took."""
        left = itertools.repeat(None, REQUESTS)
        request = strategy(self)

        def worker():
            for _ in left:
                yield from request()

        turns = [(0.0, number, worker()) for number in range(WORKERS)]
        order = itertools.count(WORKERS)
        while turns:
            self.clock.now, _, turn = heapq.heappop(turns)
            for seconds in turn:
                heapq.heappush(turns, (self.clock.now + seconds, next(order), turn))
                break
        return self.clock.now


# Strategies: each makes what does one request, by yielding the seconds until it goes on.


def oracle(world):
    def request():
        yield world.server.take(world.clock.now + LATENCY / 2) - world.clock.now - LATENCY / 2
        yield LATENCY

    return request


def at_once(world):
    def request():
        while (yield from world.exchange())[0] == 429:
            pass

    return request


def backoff(world):
    def request():
        most = 0.5
        while (yield from world.exchange())[0] == 429:
            yield most * world.clock.random()
            most = min(2 * most, 20.0)  # "Full jitter", up to 20 s: the standard mode of the AWS SDKs.

    return request


def adaptive(world):
    rate = AdaptiveRate()

    def request():
        most = 0.5
        while True:
            yield rate.before(world.clock.now)
            status, _ = yield from world.exchange()
            rate.after(world.clock.now, status == 429)
            if status != 429:
                return
            yield most * world.clock.random()
            most = min(2 * most, 20.0)

    return request


def retry_after(world):
    def request():
        while True:
            status, fields = yield from world.exchange()
            if status != 429:
                return
            yield float(dict(fields).get("Retry-After", 1))

    return request


def throttle(world):
    shared = Throttle(POLICY, clock=world.clock)

    def request():
        attempts = shared.start("api.example", "/things")
        while True:
            seconds = attempts.before()
            if seconds:
                yield seconds
                continue
            status, fields = yield from world.exchange()
            advice = attempts.after(status, fields, None, "GET", False)
            if advice.action == "proceed":
                return
            assert advice.action == "wait", advice
            yield advice.wait_seconds(world.clock.random())

    return request


STRATEGIES = {"at once": at_once, "back-off": backoff, "AWS adaptive": adaptive, "Retry-After": retry_after, "Throttle": throttle}


def results():
    """(algorithm, fields, seconds of the oracle, {strategy: (responses of 429, seconds)})."""
    for algorithm, make in SERVERS.items():
        ideal = World(make(), "none")
        seconds = ideal.run(oracle)
        for fields in FIELDS:
            row = {}
            for name, strategy in STRATEGIES.items():
                world = World(make(), fields)
                took = world.run(strategy)
                row[name] = world.refused, took
            yield algorithm, fields, seconds, row


def table():
    lines = ["| algorithm | fields | oracle | " + " | ".join(STRATEGIES) + " |", "| --- " * (3 + len(STRATEGIES)) + "|"]
    for algorithm, fields, seconds, row in results():
        cells = ["%d, +%.0f %%" % (refused, 100 * (took / seconds - 1)) for refused, took in row.values()]
        lines.append("| %s | %s | %.1f s | %s |" % (algorithm, fields, seconds, " | ".join(cells)))
    return "\n".join(lines) + "\n"


def main():
    made = table()
    if sys.argv[1:] != ["--check"]:
        print(made, end="")
    elif made not in (HERE / "README.md").read_text(encoding="utf-8"):
        sys.exit("README.md has another table than simulate.py makes:\n" + made)


if __name__ == "__main__":
    main()
