"""The RSGI interface of the application: Granian's own interface, which costs less than ASGI.

RSGI passes a request as one object and accepts a response in one call, without messages: this
serves a sixth more requests in the same processor time (see ``docs/benchmarks.md``). Responses are
the same with any ASGI server.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Final, Protocol

from mapshelf.api.application import Application
from mapshelf.api.errors import error_response
from mapshelf.api.http import READ, Headers, Request, Response
from mapshelf.api.owners import Owner
from mapshelf.api.pipe import Pipe, end_connection
from mapshelf.api.request_handler import count
from mapshelf.api.routes import Route
from mapshelf.api.streaming import LARGE_BODY, Stream, whole_body
from mapshelf.api.waiting_requests import overloaded
from mapshelf.api.work_queue import until_done
from mapshelf.errors import ClientDisconnected, MalformedRequest, Overloaded

TextHeaders = list[tuple[str, str]]

SMALL_BODY: Final = 4096
"""Maximum size in bytes of a body that the server receives with the headers, and discards if nobody
reads it."""

_FORWARDED: Final = "x-forwarded-for"

_READ: Final = tuple((name.decode(), name) for name in sorted(READ))


class HTTPScope(Protocol):
    """A request, as Granian passes it; its type stubs omit this."""

    http_version: str
    client: str
    method: str
    path: str
    query_string: str
    headers: Any


class HTTPProtocol(Protocol):
    """How Granian accepts a response."""

    def response_bytes(self, status: int, headers: TextHeaders, body: bytes) -> None:
        """Send a complete response."""

    def response_file(self, status: int, headers: TextHeaders, file: str) -> None:
        """Send a response whose body is read from a file."""

    async def client_disconnect(self) -> None:
        """Wait until the client disconnects."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the pieces of the body; they end early if the client disconnects."""


class RSGISender:
    """The client of a request, as reported by an RSGI server; read only when needed."""

    __slots__ = ("_scope",)

    def __init__(self, scope: HTTPScope) -> None:
        self._scope = scope

    def header(self, name: bytes) -> bytes:
        """See ``Sender``."""
        values: list[str] = self._scope.headers.get_all(name.decode())
        return ", ".join(values).encode()

    def address(self) -> str:
        """See ``Sender``."""
        return self._scope.client


class RSGIApplication:
    """The RSGI interface of an application."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._handler = application.handler
        self._shared_headers = _as_text(application.fixed_headers.shared)
        self._own_headers = _as_text(application.fixed_headers.own)

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start, before the first request."""
        loop.run_until_complete(self._application.start())

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop, after the last."""
        loop.run_until_complete(self._application.stop())

    async def __rsgi__(self, scope: HTTPScope, protocol: HTTPProtocol) -> None:
        """Answer one request."""
        if scope.method == "GET":
            if self._answer_from_cache(scope, protocol) or self._refuse_early(scope, protocol):
                return
        elif self._handler.admission.is_giving and self._refuse_body(scope, protocol):
            return
        response, own_headers = await self._handler.answer(_read_request, (scope, protocol))
        whole = scope.method != "HEAD"
        if whole and (response.file is not None or len(response.body) >= LARGE_BODY):
            await self._send_other(scope, protocol, response, own_headers)
            return
        headers = self._fixed_headers(response) + _as_text(own_headers)
        protocol.response_bytes(response.status, headers, response.body if whole else b"")

    def _answer_from_cache(self, scope: HTTPScope, protocol: HTTPProtocol) -> bool:
        """Answer a request from the cache if that is certainly correct; return whether it was done.

        Most requests need nothing else, so this builds no objects, not even a ``Request``. Anything
        unusual is left to the normal path.
        """
        began = perf_counter()
        cached = self._handler.cached_response(scope.path, scope.query_string.encode())
        if cached is None or cached.counts is None:
            return False
        sent = scope.headers  # each use of it crosses into Rust; a loop would double the cost
        if "if-none-match" in sent or "content-length" in sent or "transfer-encoding" in sent:
            return False
        hosts, tokens = sent.get_all("host"), sent.get_all("authorization")
        if len(hosts) != 1 or not hosts[0] or len(tokens) > 1 or _lacks_forwarded(sent):
            return False
        user = None
        if cached.scope is not None:
            authenticator = self._handler.authenticator
            token = tokens[0].encode() if tokens else b""
            user = authenticator.allowed_user(token, cached.scope) if authenticator else None
            if user is None:
                return False
        response = cached.for_user(user)
        if response is None:
            return False
        fixed = response.text_headers or self._fixed_headers(response)
        protocol.response_bytes(response.status, [*fixed, *self._names(scope)], response.body)
        count(cached.counts, response.status, perf_counter() - began)
        return True

    def _refuse_early(self, scope: HTTPScope, protocol: HTTPProtocol) -> bool:
        """Refuse a request of a program if overload leaves nothing else; return whether it did.

        The request is not read for this, not even its token. So refusals take a third of the time,
        and more requests are answered.
        """
        route = self._handler.router.fixed.get(scope.path)
        if route is None or self._handler.looks_closely or not route.refused_early:
            return False
        method = route.methods["GET"]
        owner, admission = partial(self._owner, scope), self._handler.admission
        try:
            if admission.is_giving:
                admission.check_room(owner)
            if method.queue and method.queued in scope.query_string.encode():
                self._application.context.queues.by_name()[method.queue].check_room(owner)
        except Overloaded as error:
            count(route.counts["GET"], self._refuse(protocol, error, self._names(scope)), 0.0)
            return True
        return False

    def _refuse_body(self, scope: HTTPScope, protocol: HTTPProtocol) -> bool:
        """Refuse a request that is not a GET like ``_refuse_early``; return whether it did.

        Otherwise, requests whose clients hang up before the end of the body would take more time
        than any others.
        """
        handler = self._handler
        route = None if handler.looks_closely else handler.router.find(scope.path)[0]
        method = route.methods.get(scope.method) if route else None
        if route is None or method is None or method.budget is None:
            return False
        owner = self._owner(scope)
        try:
            handler.admission.check_room(lambda: owner)
        except Overloaded as error:
            if not (_is_small(scope.headers) or handler.drains_much_of(owner)):
                return False  # the body must be received first (``incoming.py``)
            names = [*self._names(scope), ("connection", "close")]
            count(route.counts[scope.method], self._refuse(protocol, error, names, route), 0.0)
            return True
        return False

    def _names(self, scope: HTTPScope) -> TextHeaders:
        """Return the headers with the names of a request that has not been read."""
        request_id, traceparent = self._handler.names(scope, RSGISender)
        named = ("x-request-id", request_id)
        return [named, ("traceparent", traceparent.decode())] if traceparent else [named]

    def _owner(self, scope: HTTPScope) -> Owner:
        """Return the owner of a request that has not been read."""
        tokens = scope.headers.get_all("authorization")
        authorization = tokens[0].encode() if tokens else b""
        return self._application.context.owners.of_sender(RSGISender(scope), authorization)

    async def _send_other(
        self, scope: HTTPScope, protocol: HTTPProtocol, response: Response, own_headers: Headers
    ) -> None:
        """Send a response whose body is large, or in a file."""
        if response.size >= LARGE_BODY:
            await self._send_large(scope, protocol, response, own_headers)
        else:
            self._send_small(protocol, response, own_headers)

    def _send_small(self, protocol: HTTPProtocol, response: Response, own_headers: Headers) -> None:
        """Send a response whose body is in a file, but not large."""
        try:
            body = whole_body(response)
        except OSError as error:
            self._refuse(protocol, error, _as_text(own_headers))
            return
        headers = self._fixed_headers(response) + _as_text(own_headers)
        protocol.response_bytes(response.status, headers, body)

    async def _send_large(
        self, scope: HTTPScope, protocol: HTTPProtocol, response: Response, own_headers: Headers
    ) -> None:
        """Send a response whose body is large."""
        with ExitStack() as opened:
            try:
                # First, because refusing must be cheap.
                stream = opened.enter_context(self._application.sending(RSGISender(scope)))
                await _turn_to_begin(stream, protocol)
                body = opened.enter_context(stream.opened(response))
                pipe = opened.enter_context(Pipe())
            except (ClientDisconnected, Overloaded, OSError) as error:
                self._refuse(protocol, error, _as_text(own_headers))
                return
            headers = self._fixed_headers(response) + _as_text(own_headers)
            protocol.response_file(response.status, headers, pipe.path)
            # Reported only until the server reads from the pipe.
            hung_up = asyncio.ensure_future(protocol.client_disconnect())
            hung_up.add_done_callback(lambda _: stream.cut_off())
            opened.callback(hung_up.cancel)
            if not await pipe.send(body, stream) and not hung_up.done():
                await asyncio.to_thread(end_connection, scope.client)

    def _refuse(
        self,
        protocol: HTTPProtocol,
        error: Exception,
        own_headers: TextHeaders,
        route: Route | None = None,
    ) -> int:
        """Send the response to an error that counts as overload; return its status.

        It is text if the route is for people.
        """
        self._application.measurements.note_error(error)
        overloaded = error if isinstance(error, Overloaded) else Overloaded(str(error))
        as_text = route is not None and (route.outages_as_text or route.error_page is not None)
        refusal = error_response(overloaded, "", outages_as_text=as_text)
        if route is not None and not route.shared:
            refusal = replace(refusal, shared=False)
        headers = self._fixed_headers(refusal) + own_headers
        protocol.response_bytes(refusal.status, headers, refusal.body)
        return refusal.status

    def _fixed_headers(self, response: Response) -> TextHeaders:
        """Return the headers that ``response`` always has, converted to text once."""
        if response.text_headers is None:
            fixed = self._shared_headers if response.shared else self._own_headers
            response.text_headers = [*_as_text(response.headers), *fixed]
        return response.text_headers


async def _turn_to_begin(stream: Stream, protocol: HTTPProtocol) -> None:
    """Wait until sending a large body may start.

    Raises:
        ClientDisconnected: the client disconnected meanwhile.
        Overloaded: it has to make room for another.
    """
    turn = stream.turn_to_begin()
    try:
        await until_done(turn, protocol.client_disconnect)
    finally:
        turn.cancel()
    if stream.is_cut_off:
        raise overloaded()


def _read_request(asked: tuple[HTTPScope, HTTPProtocol]) -> Request:
    """Return the request in an RSGI scope, with the protocol that reports a disconnection.

    Raises:
        MalformedRequest: there is no Host header, or more than one; or the address of the
            client is unknown.
    """
    scope, protocol = asked
    headers: dict[bytes, bytes] = {}
    sent = scope.headers
    for text, name in _READ:
        values = sent.get_all(text)
        if values:
            if len(values) > 1 and name == b"host":
                raise MalformedRequest("The Host header is there twice.")
            headers[name] = ", ".join(values).encode()
    # Granian passes on a missing Host header as an empty one.
    if scope.http_version == "1.1" and not headers.get(b"host"):
        raise MalformedRequest("The Host header is missing.")
    if _lacks_forwarded(sent):
        raise MalformedRequest("The X-Forwarded-For header has characters that are not ASCII.")
    target = scope.method, scope.path, scope.query_string.encode()
    client = protocol.client_disconnect, protocol.__aiter__
    return Request(*target, headers, scope, RSGISender, *client)


def _lacks_forwarded(headers: Any) -> bool:
    """Return whether Granian dropped the value of X-Forwarded-For, because it is not ASCII.

    It has the address that the proxy appended: logs and limits would take the proxy for the client.
    """
    return _FORWARDED in headers and not headers.get_all(_FORWARDED)


def _is_small(headers: Any) -> bool:
    """Return whether a request has at most a small body."""
    lengths = headers.get_all("content-length")
    if not lengths:
        return "transfer-encoding" not in headers
    return lengths[0].isdigit() and int(lengths[0][:20]) <= SMALL_BODY


def _as_text(headers: Headers) -> TextHeaders:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
