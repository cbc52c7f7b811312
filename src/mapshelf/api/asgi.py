"""The application for any ASGI server."""

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from mapshelf.api.application import Application
from mapshelf.api.errors import error_response
from mapshelf.api.http import READ, Request, Response
from mapshelf.api.streaming import LARGE_BODY, Send, Stream, send_body
from mapshelf.errors import MalformedRequest, Overloaded

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class ASGISender:
    """The client of a request, as reported by an ASGI server; read only when needed."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def header(self, name: bytes) -> bytes:
        """See ``Sender``."""
        return b", ".join(value for other, value in self._scope["headers"] if other == name)

    def address(self) -> str:
        """See ``Sender``."""
        client = self._scope.get("client")
        return str(client[0]) if client else ""


class ASGIApplication:
    """An application behind ASGI."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection scope of ASGI."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def start(self) -> None:
        """Start the application."""
        await self.application.start()

    async def stop(self) -> None:
        """Stop the application."""
        await self.application.stop()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        response, own_headers = await self.application.handler.answer(
            _read_request, (scope, receive)
        )
        whole = scope["method"] != "HEAD"
        stream: Stream | None = None
        with ExitStack() as sending:
            if whole and response.size >= LARGE_BODY:
                try:
                    stream = sending.enter_context(self.application.sending(ASGISender(scope)))
                except Overloaded as error:
                    response = error_response(error, "")
            fixed = self.application.fixed_headers.of(response)
            headers = (*response.headers, *fixed, *own_headers)
            start = {"type": "http.response.start", "status": response.status, "headers": headers}
            await send(start)
            await send_body(response if whole else Response(200, ()), send, stream)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await self.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _read_request(asked: tuple[Scope, Receive]) -> Request:
    """Return the request in an ASGI scope, with the function that receives further messages.

    The values of a repeated header form a list (RFC 9110, 5.3).

    Raises:
        MalformedRequest: there is no Host header, or more than one.
    """
    scope, receive = asked
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name == b"host":
            raise MalformedRequest("The Host header is there twice.")
        if name in READ:
            headers[name] = headers[name] + b", " + value if name in headers else value
    if scope["http_version"] == "1.1" and not headers.get(b"host"):
        raise MalformedRequest("The Host header is missing.")
    target = scope["method"], scope["path"], scope["query_string"]
    client = partial(_disconnection, receive), partial(_pieces, receive)
    return Request(*target, headers, scope, ASGISender, *client)


async def _disconnection(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass  # a body that nobody reads


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the body as it arrives, as long as the client is there."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        yield message.get("body", b"")
        more = message.get("more_body", False)
