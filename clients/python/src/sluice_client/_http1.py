"""HTTP/1.1 as far as a client of one server needs it; no I/O, so that threads and asyncio share it."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Tuple

from .errors import Unavailable

MOST_HEAD = 64 * 1024
MOST_BODY = 16 * 1024 * 1024  # A batch of 1,000 answers with holds is below 1 MiB.

_FRAMING = re.compile(rb"\r\n(content-length|transfer-encoding|connection):[ \t]*([^\r\n]*)", re.IGNORECASE)


class Response(NamedTuple):
    status: int
    head: bytes
    body: bytes
    reusable: bool  # The connection may carry another request.

    def fields(self) -> List[Tuple[str, str]]:
        pairs = []
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(":")
            pairs.append((name, value.strip(" \t")))
        return pairs


def request_head(method: str, target: str, host: str, token: Optional[str]) -> bytes:
    """The lines of a request that are the same each time. Content-Length and an empty line are still missing."""
    authorization = "Authorization: Bearer %s\r\n" % token if token else ""
    if any(ord(char) < 32 or ord(char) > 255 for char in target + host + (token or "")):
        raise ValueError("the URL or the token has a character that HTTP does not allow")
    text = "%s %s HTTP/1.1\r\nHost: %s\r\n%s" % (method, target, host, authorization)
    return text.encode("latin-1") + (b"Content-Type: application/json\r\n" if method == "POST" else b"")


class ResponseParser:
    """One response, from its first byte on. Raises Unavailable for what is no HTTP/1.1."""

    __slots__ = ("_data", "_head", "_body_at", "_length", "_chunked", "_close")

    def __init__(self) -> None:
        self._data = b""
        self._head: Optional[bytes] = None
        self._body_at = 0
        self._length: Optional[int] = None
        self._chunked = False
        self._close = False

    def feed(self, data: bytes) -> Optional[Response]:
        """The response, once it is complete."""
        self._data = self._data + data if self._data else data
        while self._head is None:
            end = self._data.find(b"\r\n\r\n")
            if end < 0:
                if len(self._data) > MOST_HEAD:
                    raise Unavailable("the response's head is too long")
                return None
            self._read_head(end)
        if self._chunked:
            return self._read_chunks()
        if self._length is None:
            if len(self._data) - self._body_at > MOST_BODY:
                raise Unavailable("the response's body is too long")
            return None
        if len(self._data) < self._body_at + self._length:
            return None
        return self._response(self._data[self._body_at : self._body_at + self._length])

    def end(self) -> Response:
        """The server closed the connection. A body without a length ends there; anything else broke off."""
        if self._head is None or self._length is not None or self._chunked:
            raise Unavailable("the connection was closed before the response was complete")
        return self._response(self._data[self._body_at :])

    def _response(self, body: bytes) -> Response:
        assert self._head is not None
        return Response(int(self._head[9:12]), self._head, body, not self._close and self._length is not None)

    def _read_head(self, end: int) -> None:
        head = self._data[:end]
        if not head.startswith(b"HTTP/1.") or not head[9:12].isdigit():
            raise Unavailable("the response is not HTTP/1.1")
        if head[9:10] == b"1":  # 100 and 103 come before the response.
            self._data = self._data[end + 4 :]
            return
        self._head, self._body_at = head, end + 4
        self._close = head.startswith(b"HTTP/1.0")
        for name, value in _FRAMING.findall(head):
            name, value = name.lower(), value.strip().lower()
            if name == b"content-length":
                if not value.isdigit() or int(value[:12]) > MOST_BODY:
                    raise Unavailable("the response has a Content-Length that is no number or too large")
                self._length = int(value)
            elif name == b"transfer-encoding":
                self._chunked = value == b"chunked"
            elif b"close" in value:
                self._close = True
        if head[9:12] in (b"204", b"304"):
            self._length, self._chunked = 0, False

    def _read_chunks(self) -> Optional[Response]:
        """Reads from the first chunk on: responses of proxies, and short ones."""
        body: List[bytes] = []
        at = self._body_at
        while True:
            line_end = self._data.find(b"\r\n", at)
            if line_end < 0:
                return None
            try:
                size = int(self._data[at:line_end].split(b";")[0], 16)
            except ValueError:
                raise Unavailable("the response has a chunk without a size") from None
            if size > MOST_BODY:
                raise Unavailable("the response's body is too long")
            at = line_end + 2
            if size == 0:
                if self._data.find(b"\r\n", at) == at:
                    self._length = 0
                elif self._data.find(b"\r\n\r\n", at) >= 0:
                    self._close = True  # With trailers, which nothing needs: not worth reusing.
                else:
                    return None
                return self._response(b"".join(body))
            if len(self._data) < at + size + 2:
                return None
            body.append(self._data[at : at + size])
            at += size + 2
