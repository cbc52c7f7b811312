"""The application in this process, called as the server calls it, without a network.

So the cost of a request is the work of our own code in all threads, and a profiler sees all of it.
"""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, NamedTuple, Self
from urllib.parse import unquote

import uvloop

from mapshelf.api import Application
from mapshelf.api.rsgi import RSGIApplication, TextHeaders
from mapshelf.errors import AlreadyExists
from mapshelf.settings import Settings
from mapshelf.site import site_routes
from mapshelf.store import open_store
from mapshelf.tokens import new_token, token_digest

READER: Final = "benchmark"

READY_WITHIN: Final = 300.0
"""Seconds within which the snapshot must be verified."""


_READERS: Final = ThreadPoolExecutor(1)


class Sent(NamedTuple):
    """A response as the application passes it to the server."""

    status: int
    headers: TextHeaders
    body: bytes


class _Headers:
    """The headers of a request, as Granian passes them."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    def get_all(self, name: str) -> list[str]:
        return [self._headers[name]] if name in self._headers else []

    def get(self, name: str, default: str | None = None) -> str | None:
        return self._headers.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self._headers


class _Scope:
    """A request, as Granian passes it."""

    http_version = "1.1"
    client = "127.0.0.1:1"

    def __init__(self, target: str, headers: Mapping[str, str], method: str = "GET") -> None:
        path, _, self.query_string = target.partition("?")
        self.path = unquote(path)
        self.method = method
        self.headers = _Headers(headers)


class _Protocol:
    """Accepts a response, as Granian does."""

    sent: Sent | None = None
    reading: Future[bytes] | None = None
    """The body of a large response, which a thread reads while the application writes it."""

    def response_bytes(self, status: int, headers: TextHeaders, body: bytes) -> None:
        self.sent = Sent(status, headers, body)

    def response_file(self, status: int, headers: TextHeaders, file: str) -> None:
        self.sent = Sent(status, headers, b"")
        self.reading = _READERS.submit(Path(file).read_bytes)

    async def client_disconnect(self) -> None:
        await asyncio.Event().wait()

    def __aiter__(self) -> AsyncIterator[bytes]:
        raise NotImplementedError("no request here has a body")


class InProcess:
    """The service of one catalogue, which runs inside the context."""

    def __init__(self, settings: Settings) -> None:
        """Prepare to serve the catalogue of ``settings``, and register a user."""
        store = open_store(settings.database)
        with suppress(AlreadyExists):
            store.add_user(READER)
        token = new_token()
        store.add_token(READER, token_digest(token), label="", scopes="account maps", expires=None)
        store.close()
        self._signed = {"host": "127.0.0.1:8000", "authorization": f"Bearer {token}"}
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._application = Application(settings, site_routes)
        self._served = RSGIApplication(self._application)

    def __enter__(self) -> Self:
        self._runner.run(self._application.start())
        deadline = time.monotonic() + READY_WITHIN
        while self.request("/readyz").status != 200:  # checksums of large snapshots take seconds
            if time.monotonic() > deadline:
                raise TimeoutError("the application is not ready")
            self.wait(0.05)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._runner.run(self._application.stop())
        self._runner.close()

    def request(
        self, target: str, headers: Mapping[str, str] = MappingProxyType({}), method: str = "GET"
    ) -> Sent:
        """Send one request, by default with a token; an empty header in ``headers`` removes it."""
        return self._runner.run(self._answer(self._scope(target, headers, method)))

    def wait(self, seconds: float) -> None:
        """Wait while the application does its background work."""
        self._runner.run(asyncio.sleep(seconds))

    def microseconds(self, targets: Sequence[str], headers: Mapping[str, str]) -> float:
        """Send one request for each target; return the mean processor time in microseconds."""
        scopes = [self._scope(target, headers) for target in targets]
        gc.collect()
        began = time.process_time()
        self._runner.run(self._answer_all(scopes))
        return (time.process_time() - began) / len(scopes) * 1e6

    def _scope(self, target: str, headers: Mapping[str, str], method: str = "GET") -> _Scope:
        sent = {**self._signed, **headers}
        return _Scope(target, {name: value for name, value in sent.items() if value}, method)

    async def _answer_all(self, scopes: Sequence[_Scope]) -> None:
        for scope in scopes:
            sent = await self._answer(scope)
            assert sent.status == 200, (scope.path, scope.query_string, sent)

    async def _answer(self, scope: _Scope) -> Sent:
        protocol = _Protocol()
        await self._served.__rsgi__(scope, protocol)
        assert protocol.sent is not None
        if protocol.reading is None:
            return protocol.sent
        return protocol.sent._replace(body=await asyncio.wrap_future(protocol.reading))
