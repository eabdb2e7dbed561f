"""Ask a Sluice daemon whether a request may pass, and keep to the limits of other people's servers."""

from ._advice import Advice, Policy, advise
from ._aio import AsyncClient, AsyncHold, AsyncReservation
from ._breaker import Breaker
from ._call import Check
from ._client import Client, Hold, Reservation
from ._clock import Clock
from ._decision import Decision, HoldToken, Limit, Settled
from .errors import CallError, Denied, SluiceError, Throttled, Unavailable
from .throttle import Holding, Throttle, deadline

__version__ = "0.1.0"

__all__ = [
    "Advice", "AsyncClient", "AsyncHold", "AsyncReservation", "Breaker", "CallError", "Check", "Client", "Clock", "Decision",
    "Denied", "Hold", "HoldToken", "Holding", "Limit", "Policy", "Reservation", "Settled", "SluiceError", "Throttle",
    "Throttled", "Unavailable", "advise", "deadline",
]
