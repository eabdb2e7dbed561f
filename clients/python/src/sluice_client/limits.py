"""A storage and a strategy for the `limits` package, and so for flask-limiter and slowapi.

Import this module; then name the storage and the strategy:

    Limiter(..., storage_uri="sluice://127.0.0.1:6380", strategy="sluice")

The limits stay where they are, in decorators: they go to the daemon in each command (CL.THROTTLE), so no rule is needed.
"10/minute" is a token bucket: 10 at once, and one comes back every 6 seconds.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any, List, NamedTuple, NoReturn, Optional, Tuple, Type, Union

from limits import strategies
from limits.limits import RateLimitItem
from limits.storage import Storage
from limits.strategies import RateLimiter

from ._resp import ThrottleServer
from .errors import SluiceError, Unavailable

try:
    from limits.util import WindowStats
except ImportError:  # limits 2

    class WindowStats(NamedTuple):  # type: ignore[no-redef]
        reset_time: float
        remaining: int


NAME = "sluice"
_MOST_KEY = 1024


class SluiceStorage(Storage):
    """Where the daemon's listener for the Redis protocol is: sluice://[:PASSWORD@]HOST[:6380].

    timeout: seconds of each step on the network. It only counts by the strategy "sluice", which knows the limits.
    """

    STORAGE_SCHEME = ["sluice", "sluices"]

    def __init__(self, uri: Optional[str] = None, wrap_exceptions: bool = False, timeout: float = 0.25,
                 **options: Union[float, str, bool]) -> None:
        super().__init__(uri)
        self.wrap_exceptions = wrap_exceptions
        self.server = ThrottleServer(uri or "sluice://127.0.0.1:6380", float(timeout))

    @property
    def base_exceptions(self) -> Union[Type[Exception], Tuple[Type[Exception], ...]]:
        return SluiceError

    def check(self) -> bool:
        return self.server.ping()

    def reset(self) -> Optional[int]:
        raise NotImplementedError("Sluice does not forget the keys of CL.THROTTLE on command")

    def clear(self, key: str) -> None:
        raise NotImplementedError("Sluice does not forget the keys of CL.THROTTLE on command")

    def incr(self, key: str, expiry: int, *args: Any, **options: Any) -> int:
        _wrong_strategy()

    def get(self, key: str) -> int:
        _wrong_strategy()

    def get_expiry(self, key: str) -> int:
        _wrong_strategy()


def _wrong_strategy() -> NoReturn:
    raise NotImplementedError('Sluice decides, it does not only count: use strategy="sluice"')


class SluiceRateLimiter(RateLimiter):
    """The strategy "sluice": the daemon decides, exactly and for all processes."""

    storage: SluiceStorage

    def __init__(self, storage: Any) -> None:
        if not isinstance(storage, SluiceStorage):
            raise ValueError('strategy "sluice" needs a storage_uri that begins with sluice://')
        super().__init__(storage)
        self.storage = storage  # Older versions keep a weak reference only.

    def hit(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        return self._ask(item, identifiers, cost)[0] == 0

    def test(self, item: RateLimitItem, *identifiers: str, cost: int = 1) -> bool:
        return self._ask(item, identifiers, 0)[2] >= cost

    def get_window_stats(self, item: RateLimitItem, *identifiers: str) -> WindowStats:
        """What remains; and when one more may pass if nothing does, else when the limit is full again."""
        _, _, remaining, _, reset_after = self._ask(item, identifiers, 0)
        if remaining == 0:
            reset_after = max(1, -(-(reset_after * item.amount - (item.amount - 1) * item.get_expiry()) // item.amount))
        return WindowStats(time.time() + reset_after, remaining)

    def _ask(self, item: RateLimitItem, identifiers: Tuple[str, ...], cost: int) -> List[int]:
        key = item.key_for(*identifiers).encode()
        if len(key) > _MOST_KEY:
            key = b"sha256:" + hashlib.sha256(key).hexdigest().encode()
        try:
            return self.storage.server.throttle(key, item.amount, item.get_expiry(), cost)
        except Unavailable as error:
            if not self.storage.wrap_exceptions:
                raise
            from limits.errors import StorageError

            raise StorageError(error) from error


strategies.STRATEGIES[NAME] = SluiceRateLimiter  # type: ignore[assignment]
