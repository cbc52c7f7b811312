"""The application as Granian's own interface calls it, which costs less than ASGI.

RSGI hands over a request as one object and takes an answer in one call, without messages between:
a sixth more requests for the same work of the processor (see ``docs/benchmarks.md``). It adds
nothing else: what is answered is decided in ``app``, and any ASGI server may be used instead.
"""

import asyncio
from typing import Any, Final, Protocol

from mapshelf.api.app import Application
from mapshelf.api.http import READ, Headers, Request, Response, take_header

TextHeaders = list[tuple[str, str]]

_READ: Final = tuple((name.decode(), name) for name in sorted(READ))


class HTTPScope(Protocol):
    """What Granian tells of a request; its own stubs leave this out."""

    http_version: str
    method: str
    path: str
    query_string: str
    headers: Any


class HTTPProtocol(Protocol):
    """How Granian takes an answer."""

    def response_bytes(self, status: int, headers: TextHeaders, body: bytes) -> None:
        """Send all of an answer."""


class RSGIApplication:
    """An application behind RSGI."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._fixed_headers = _as_text(application.fixed_headers)

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start, before the first request."""
        loop.run_until_complete(self._application.start())

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop, after the last."""
        loop.run_until_complete(self._application.stop())

    async def __rsgi__(self, scope: HTTPScope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        response, own_headers = await self._application.answer(_read_request, scope)
        headers = self._kept_headers(response) + _as_text(own_headers)
        body = b"" if scope.method == "HEAD" else response.body
        protocol.response_bytes(response.status, headers, body)

    def _kept_headers(self, response: Response) -> TextHeaders:
        """Return the headers that every sending of ``response`` has, made as text but once."""
        if response.text_headers is None:
            response.text_headers = _as_text(response.headers) + self._fixed_headers
        return response.text_headers


def _read_request(scope: HTTPScope) -> Request:
    """Return the request in an RSGI scope.

    Raises:
        MalformedRequest: there is no Host header, or more than one.
    """
    headers: dict[bytes, bytes] = {}
    sent = scope.headers
    for text, name in _READ:
        for value in sent.get_all(text):
            take_header(headers, name, value.encode())
    request = Request(
        scope.method,
        scope.path,
        scope.query_string.encode(),
        headers,
        encodings=lambda: ",".join(sent.get_all("accept-encoding")).encode(),
    )
    request.check_host(scope.http_version)
    return request


def _as_text(headers: Headers) -> TextHeaders:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
