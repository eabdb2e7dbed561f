"""The AWS SDKs' adaptive retry mode, by its published algorithm: a client-side token bucket whose rate follows CUBIC.

After a refusal the rate falls to 0.7 of the measured one, and grows by a cubic curve through that rate until the next refusal. The
rate is shared by all requests of a client, and says nothing about the server's limit before the first refusal.
"""
import math

BETA, SCALE, SMOOTHING = 0.7, 0.4, 0.8
LEAST_RATE = 0.5


class AdaptiveRate:
    def __init__(self):
        self._measured, self._count, self._half_second = 0.0, 0, 0.0
        self._highest, self._refused_at = 0.0, 0.0
        self._rate, self._tokens, self._filled_at = None, 0.0, 0.0  # No rate: not limited yet.

    def before(self, now):
        """Seconds until the request may be sent. It is counted as sent then."""
        if self._rate is None:
            return 0.0
        self._fill(now)
        self._tokens -= 1
        return max(0.0, -self._tokens / self._rate)

    def after(self, now, refused):
        self._measure(now)
        if refused:
            rate = self._measured if self._rate is None else min(self._measured, self._rate)
            self._highest, self._refused_at = rate, now
            self._set(now, rate * BETA)
        elif self._rate is not None:
            since = now - self._refused_at - (self._highest * (1 - BETA) / SCALE) ** (1 / 3)
            self._set(now, SCALE * since**3 + self._highest)

    def _measure(self, now):
        self._count += 1
        half_second = math.floor(now * 2) / 2
        if half_second > self._half_second:
            current = self._count / (half_second - self._half_second)
            self._measured = current * SMOOTHING + self._measured * (1 - SMOOTHING)
            self._count, self._half_second = 0, half_second

    def _set(self, now, rate):
        self._fill(now)
        self._rate = max(LEAST_RATE, min(rate, 2 * self._measured))
        self._tokens = min(self._tokens, max(self._rate, 1.0))

    def _fill(self, now):
        if self._rate is not None:
            self._tokens = min(max(self._rate, 1.0), self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
