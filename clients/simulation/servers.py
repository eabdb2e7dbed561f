"""Servers that limit rates, in virtual time: 100 requests per 10 s, by each algorithm.

A server has two functions: `earliest(now)`, the first moment from now on at which a request is admitted, and `take(now)`, which
admits one at that moment and gives it.
"""
import math

LIMIT, WINDOW = 100, 10.0


class FixedWindow:
    def __init__(self):
        self._counts = {}

    def earliest(self, now):
        window = int(now // WINDOW)
        while self._counts.get(window, 0) >= LIMIT:
            window += 1
        return max(now, window * WINDOW)

    def take(self, now):
        at = self.earliest(now)
        self._counts[int(at // WINDOW)] = self._counts.get(int(at // WINDOW), 0) + 1
        return at

    def left(self, now):
        """What remains, and the seconds until all of it is available again."""
        window = int(now // WINDOW)
        return LIMIT - self._counts.get(window, 0), (window + 1) * WINDOW - now


class SlidingLog:
    def __init__(self):
        self._admitted = []

    def earliest(self, now):
        return now if len(self._admitted) < LIMIT else max(now, self._admitted[-LIMIT] + WINDOW)

    def take(self, now):
        at = self.earliest(now)
        self._admitted.append(at)
        return at

    def left(self, now):
        counted = [at for at in self._admitted[-LIMIT:] if at > now - WINDOW]
        return LIMIT - len(counted), (counted[-1] if counted else now) + WINDOW - now


class TokenBucket:
    """GCRA: a bucket of `burst` that refills evenly."""

    def __init__(self, burst=LIMIT):
        self._burst, self._every, self._full_at = burst, WINDOW / LIMIT, 0.0

    def earliest(self, now):
        return max(now, self._full_at - (self._burst - 1) * self._every)

    def take(self, now):
        at = self.earliest(now)
        self._full_at = max(self._full_at, at) + self._every
        return at

    def left(self, now):
        until_full = max(0.0, self._full_at - now)
        return max(0, int(self._burst - until_full / self._every + 1e-9)), until_full


SERVERS = {
    "fixed window": FixedWindow,
    "sliding log": SlidingLog,
    "token bucket": TokenBucket,
    "leaky bucket, burst 10": lambda: TokenBucket(10),
}

# What the server says: nothing, Retry-After with a 429, or also on each response.
FIELDS = ("none", "Retry-After", "RateLimit", "X-RateLimit")


def answer(server, now, wall, fields):
    """Status and header fields of the response to a request that arrives now."""
    wait = server.earliest(now) - now
    if wait <= 0:
        server.take(now)
    left, reset = server.left(now)
    seconds = reset if wait <= 0 else wait  # Of a 429: until one more is admitted.
    said = []
    if fields != "none" and wait > 0:
        said.append(("Retry-After", "%d" % max(1, math.ceil(wait))))
    if fields == "RateLimit":
        said.append(("RateLimit", '"q";r=%d;t=%d' % (left, math.ceil(seconds))))
    elif fields == "X-RateLimit":
        said += [("X-RateLimit-Remaining", "%d" % left), ("X-RateLimit-Reset", "%d" % math.ceil(wall + seconds))]
    return (429 if wait > 0 else 200), said
