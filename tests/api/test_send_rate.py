"""Large bodies of a worker share an allowance; nobody else waits for them, and none for long."""

import asyncio
import io
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from mapshelf.api import create_app, rsgi
from mapshelf.api.http import Headers, Response
from mapshelf.api.pipe import Pipe
from mapshelf.api.send_rate import SendRate
from mapshelf.api.streaming import (
    BYTES_OF_BEGINNING,
    LARGE_BODY,
    MOST_BODIES_OF_ONE,
    PIECE,
    Stream,
    Streams,
    send_body,
)
from mapshelf.site import site_routes
from tests.harness import Shelf

BODY: Final = bytes(10 * PIECE)
FOREVER: Final = 1e9


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


class Noted(SendRate):
    """Notes what waits, and lets it pass."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def wait(self, size: int) -> None:
        self.sizes.append(size)


def test_bodies_wait_for_each_other_in_the_order_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    rate = SendRate(rate=100, ahead=50)
    assert [rate.reserve(25) for _ in range(4)] == pytest.approx([-0.25, 0.0, 0.25, 0.5])
    monkeypatch.setattr(time, "monotonic", lambda: 1000.5)
    assert rate.reserve(100) == pytest.approx(1.0)
    # What was not used is not saved up.
    monkeypatch.setattr(time, "monotonic", lambda: 2000.0)
    assert [rate.reserve(50) for _ in range(2)] == pytest.approx([0.0, 0.5])


def test_each_piece_takes_its_turn(tmp_path: Path) -> None:
    async def test() -> None:
        through_pipe, through_asgi = Noted(), Noted()
        with Pipe() as pipe, open(pipe.path, "rb", buffering=0) as server:
            stream = Stream("reader", rate=through_pipe)
            sending = asyncio.create_task(pipe.send(io.BytesIO(BODY), stream))
            taken = 0
            while taken < len(BODY):
                taken += len(await asyncio.to_thread(server.read, PIECE))
            assert await sending

        async def send(_: Any) -> None: ...

        await send_body(Response(200, (), BODY), send, Stream("reader", rate=through_asgi))
        assert through_pipe.sizes == through_asgi.sizes == [PIECE] * 10

    run(test())


def test_all_bodies_of_a_worker_have_the_same_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[SendRate] = []

    async def noted(rate: SendRate, _: int) -> None:
        rates.append(rate)

    monkeypatch.setattr(SendRate, "wait", noted)
    streams = Streams()

    async def test() -> None:
        with streams.sending("one") as one, streams.sending("another") as another:
            await one.turn(1)
            await another.turn(1)
        assert rates[0] is rates[1]

    run(test())


def test_waiting_for_a_turn_does_not_make_a_client_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        stream = Stream("reader", rate=Noted())
        now = time.monotonic() + 60
        monkeypatch.setattr(time, "monotonic", lambda: now)
        assert stream.stalled() >= 60
        await stream.turn(PIECE)
        assert stream.stalled() == 0

    run(test())


class Scope:
    """A request as Granian passes it."""

    http_version = "1.1"
    client = "127.0.0.1:5000"
    method = "GET"
    path = "/"
    query_string = ""

    def __init__(self) -> None:
        self.headers: Any = self

    def get_all(self, name: str) -> list[str]:
        """Return the values of a header."""
        return ["localhost"] if name == "host" else []


class Client:
    """A client that is gone if ``gone``; keeps the status of its answer."""

    def __init__(self, *, gone: bool = False) -> None:
        self._gone = gone
        self.status = 0

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status = status

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        raise AssertionError("nothing is to be sent")

    async def client_disconnect(self) -> None:
        if not self._gone:
            await asyncio.Event().wait()

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Return the pieces of a body, which no request here has."""
        raise NotImplementedError


def never_opened(_: Response) -> io.BytesIO:
    raise AssertionError("the body is opened")


def answered(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    client: Client,
    others: int,
    opened: Callable[[Response], io.BytesIO] = never_opened,
) -> None:
    """Have ``client`` ask for a large body while it goes to ``others`` of its address."""

    async def large(*_: object) -> tuple[Response, Headers]:
        return Response(200, (), bytes(LARGE_BODY)), ()

    application = create_app(Shelf(folder).settings, site_routes).application
    monkeypatch.setattr(application.handler, "answer", large)
    monkeypatch.setattr(rsgi, "open_body", opened)

    async def test() -> None:
        with ExitStack() as sent:
            for _ in range(others):
                sent.enter_context(application.sending(rsgi.RSGISender(Scope())))
            await rsgi.RSGIApplication(application).__rsgi__(Scope(), client)

    run(test())


def test_who_is_refused_a_large_body_costs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client()
    answered(tmp_path, monkeypatch, client, MOST_BODIES_OF_ONE)
    assert client.status == 503


def test_who_hangs_up_before_a_large_body_begins_costs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    async def never(_: SendRate, size: int) -> None:
        sizes.append(size)
        await asyncio.sleep(FOREVER)

    monkeypatch.setattr(SendRate, "wait", never)
    answered(tmp_path, monkeypatch, Client(gone=True), 0)
    assert sizes == [BYTES_OF_BEGINNING]


def test_the_connection_of_a_stalled_client_is_not_looked_for_in_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Going through hundreds of descriptors takes milliseconds, and fifty clients may stall."""
    threads: list[threading.Thread] = []

    async def stalled(*_: object) -> bool:
        return False

    def end(client: str) -> bool:
        assert client == Scope.client
        threads.append(threading.current_thread())
        return True

    class Slow(Client):
        def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
            self.status = status

    monkeypatch.setattr(Pipe, "send", stalled)
    monkeypatch.setattr(rsgi, "end_connection", end)
    client = Slow()
    answered(tmp_path, monkeypatch, client, 0, opened=lambda _: io.BytesIO())
    assert client.status == 200
    assert [thread is threading.main_thread() for thread in threads] == [False]
