"""The Redis protocol as far as CL.THROTTLE needs it: arrays of integers."""

from __future__ import annotations

import collections
import socket
import ssl
import urllib.parse
from typing import Deque, List, Optional, Tuple

from .errors import CallError, Unavailable


class _Connection:
    def __init__(self, address: Tuple[str, int], context: Optional[ssl.SSLContext], timeout: float) -> None:
        plain = socket.create_connection(address, timeout=timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = context.wrap_socket(plain, server_hostname=address[0]) if context else plain
        self._data = b""

    def ask(self, *words: bytes) -> object:
        parts = [b"*%d\r\n" % len(words)]
        parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
        self._socket.sendall(b"".join(parts))
        return self._reply()

    def _line(self) -> bytes:
        while b"\r\n" not in self._data:
            received = self._socket.recv(4096)
            if not received:
                raise Unavailable("the connection was closed")
            self._data += received
        line, _, self._data = self._data.partition(b"\r\n")
        return line

    def _reply(self) -> object:
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"*":
            return [self._reply() for _ in range(int(rest))]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            text = rest.decode("utf-8", "replace")
            if text.startswith("SHED"):
                raise Unavailable(text)
            raise CallError(400, text.split(" ", 1)[0], text)
        raise Unavailable("the reply is not of the Redis protocol")

    def close(self) -> None:
        self._socket.close()


class ThrottleServer:
    """Sends CL.THROTTLE over kept connections. Thread-safe.

    url: sluice://[:PASSWORD@]HOST[:6380], or sluices:// over TLS. timeout: seconds of each step on the network.
    """

    def __init__(self, url: str, timeout: float = 0.25) -> None:
        parts = urllib.parse.urlsplit(url)
        self._address = (parts.hostname or "127.0.0.1", parts.port or 6380)
        self._password = urllib.parse.unquote(parts.password) if parts.password else None
        self._context = ssl.create_default_context() if parts.scheme.endswith("s") else None
        self._timeout = timeout
        self._idle: Deque[_Connection] = collections.deque()

    def throttle(self, key: bytes, amount: int, seconds: int, cost: int) -> List[int]:
        """[limited, limit, remaining, retry_after, reset_after]: docs/resp.md. Raises Unavailable or CallError."""
        words = (b"CL.THROTTLE", key, b"%d" % (amount - 1), b"%d" % amount, b"%d" % seconds, b"%d" % cost)
        reply = self._ask(*words)
        if not isinstance(reply, list) or len(reply) != 5:
            raise Unavailable("the reply to CL.THROTTLE has not five numbers")
        return reply

    def ping(self) -> bool:
        try:
            return self._ask(b"PING") == "PONG"
        except (Unavailable, CallError):
            return False

    def _ask(self, *words: bytes) -> object:
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._ask_anew(words)
        try:
            return self._finish(connection, words)
        except Unavailable:
            # Kept open by us, and closed by a daemon that restarted. Charging twice is possible, and harmless here.
            return self._ask_anew(words)

    def _ask_anew(self, words: Tuple[bytes, ...]) -> object:
        try:
            connection = _Connection(self._address, self._context, self._timeout)
        except OSError as error:
            raise Unavailable(str(error) or "timed out") from error
        if self._password is not None:
            self._finish(connection, (b"AUTH", self._password.encode()), keep=False)
        return self._finish(connection, words)

    def _finish(self, connection: _Connection, words: Tuple[bytes, ...], keep: bool = True) -> object:
        try:
            reply = connection.ask(*words)
        except CallError:
            connection.close()
            raise
        except (OSError, ValueError) as error:
            connection.close()
            raise Unavailable(str(error) or "timed out") from error
        except BaseException:
            connection.close()
            raise
        if keep:
            self._idle.append(connection)
        return reply
