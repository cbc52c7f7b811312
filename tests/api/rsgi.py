"""Requests and responses as Granian passes them over RSGI, for tests without a server."""

from asyncio import Event
from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType
from typing import Any


class Scope:
    """A request."""

    http_version = "1.1"
    client = "127.0.0.1:5000"

    def __init__(
        self,
        path: str,
        query_string: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
        method: str = "GET",
    ) -> None:
        """Request a path. A header whose value has several lines is sent several times."""
        self.path = path
        self.method = method
        self.query_string = query_string
        self.headers: Any = self
        self._sent = {"host": "localhost", **{name.lower(): one for name, one in headers.items()}}

    def __contains__(self, name: str) -> bool:
        return name in self._sent

    def get_all(self, name: str) -> list[str]:
        """Return the values of a header."""
        return self._sent[name].splitlines() if name in self._sent else []


class Answer:
    """Keeps the response to a request.

    Attributes:
        pieces: what arrives of its body before the client hangs up; ``None`` waits for ever.
    """

    pieces: tuple[bytes, ...] | None = None

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        raise AssertionError("nothing here is so large")

    async def client_disconnect(self) -> None:
        await Event().wait()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the pieces of the body."""
        if self.pieces is None:
            await Event().wait()
        for piece in self.pieces or ():
            yield piece
