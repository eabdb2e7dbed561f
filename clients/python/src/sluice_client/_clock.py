"""Time and chance, as one object that tests replace."""

from __future__ import annotations

import asyncio
import random
import time


class Clock:
    """The system's. A test derives from it and advances by call."""

    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()

    def random(self) -> float:
        """From 0 to 1."""
        return random.random()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


SYSTEM = Clock()
