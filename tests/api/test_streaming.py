"""Large responses are sent as fast as their clients read, within limits."""

import asyncio
import fcntl
import io
import os
import socket
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from mapshelf.api import rsgi, streaming
from mapshelf.api.http import Response
from mapshelf.api.pipe import Pipe, end_connection
from mapshelf.api.send_rate import PIECE, SendRate
from mapshelf.api.streaming import (
    FEW_BODIES,
    LARGE_BODY,
    MOST_BODIES,
    MOST_BODIES_OF_ONE,
    SLOW_AFTER,
    STALLED_AFTER,
    Stream,
    Streams,
)
from mapshelf.disk_cache import DiskCache
from mapshelf.errors import Overloaded
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Topic, sheets_of
from mapshelf.site import site_routes
from tests.api.rsgi import Answer, Scope
from tests.harness import serve, shelf_with

BODY = bytes(range(256)) * 4000


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


def test_a_pipe_reads_no_more_than_the_client_takes() -> None:
    async def test() -> None:
        with Pipe() as pipe:
            body = io.BytesIO(BODY)
            sending = asyncio.create_task(pipe.send(body, Stream("reader")))
            with open(pipe.path, "rb", buffering=0) as server:
                await asyncio.sleep(0.05)
                assert not sending.done()
                assert body.tell() <= 1 << 18, "the pipe read far more than the client took"
                taken = await asyncio.to_thread(server.read, len(BODY) - 1)
                while len(taken) < len(BODY) - 1:
                    taken += await asyncio.to_thread(server.read, len(BODY) - 1 - len(taken))
                assert await sending
                assert taken + server.read(1) == BODY

    run(test())


def test_a_client_that_reads_nothing_is_disconnected() -> None:
    async def test() -> None:
        with Pipe() as pipe, open(pipe.path, "rb", buffering=0):
            began = time.monotonic()
            assert not await pipe.send(io.BytesIO(BODY), Stream("reader", patience=0.1))
            assert time.monotonic() - began >= 0.1

    run(test())


def test_a_client_that_hangs_up_ends_the_sending() -> None:
    async def test() -> None:
        with Pipe() as pipe:
            sending = asyncio.create_task(pipe.send(io.BytesIO(BODY), Stream("reader")))
            with open(pipe.path, "rb", buffering=0) as server:
                await asyncio.sleep(0.05)
                server.read(1 << 16)
                await asyncio.sleep(0.05)
            assert await sending

    run(test())


def test_a_client_that_hangs_up_before_the_pipe_was_full_ends_the_sending() -> None:
    async def test() -> None:
        body = io.BytesIO(BODY)
        rate = SendRate(rate=1 << 20, ahead=1)
        with Pipe() as pipe:
            sending = asyncio.create_task(pipe.send(body, Stream("reader", rate=rate)))
            with open(pipe.path, "rb", buffering=0) as server:
                taken = 0
                while taken < PIECE:
                    taken += len(await asyncio.to_thread(server.read, PIECE))
            assert await sending
        assert body.tell() < len(BODY)

    run(test())


LARGE = "/mindmaps/Large001/large"


def large_map() -> MapDraft:
    """Return a map whose page is a large response."""
    topics = [Topic(f"{'x' * 90} {number}") for number in range(3000)]
    outline = encode_outline(Outline(sheets_of((Topic("Plan", children=topics),))))
    return MapDraft(id="Large001", title="Large", outline=outline)


class Leaving(Answer):
    """A client that leaves before the server opens the pipe."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        self.left.set()

    async def client_disconnect(self) -> None:
        await self.left.wait()


@pytest.mark.process
def test_a_client_that_hangs_up_before_the_server_reads_leaves_its_place(tmp_path: Path) -> None:
    with shelf_with(tmp_path, large_map()) as shelf, serve(shelf, site_routes) as service:
        application = rsgi.RSGIApplication(service.application.application)

        assert service.get(LARGE).status_code == 200  # now it is made

        async def ask() -> None:
            answer = Leaving()
            await application.__rsgi__(Scope(LARGE), answer)
            assert answer.left.is_set(), answer.status

        service.run(asyncio.wait_for(ask(), STALLED_AFTER / 2))


@pytest.mark.process
def test_who_waits_to_begin_gets_503_if_it_has_to_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(streaming, "MOST_BODIES", 2)
    with shelf_with(tmp_path, large_map()) as shelf, serve(shelf, site_routes) as service:
        application = rsgi.RSGIApplication(service.application.application)
        assert service.get(LARGE).status_code == 200  # now it is made
        monkeypatch.setattr(SendRate, "wait", never)

        async def ask() -> None:
            answers = [Answer() for _ in range(3)]
            requests = []
            for number, answer in enumerate(answers):
                scope = Scope(LARGE)
                scope.client = f"127.0.0.{1 + number // 2}:5000"
                requests.append(asyncio.ensure_future(application.__rsgi__(scope, answer)))
                await asyncio.sleep(0.1)
            done, _ = await asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED)
            assert done == {requests[1]}, "the newest of the address with the most makes room"
            assert answers[1].status == 503
            for request in requests:
                request.cancel()

        service.run(asyncio.wait_for(ask(), STALLED_AFTER))


@pytest.mark.skipif(sys.platform != "linux", reason="the size of pipes is fixed")
def test_a_pipe_holds_less_than_any_large_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """On systems with large pages, pipes held all of a body, and were closed before it was read."""
    make = os.pipe

    def make_large() -> tuple[int, int]:
        reader, writer = make()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 18)  # 16 pages of 16 KiB
        return reader, writer

    monkeypatch.setattr(os, "pipe", make_large)
    with Pipe() as pipe, open(pipe.path, "rb") as server:
        assert fcntl.fcntl(server, fcntl.F_GETPIPE_SZ) < LARGE_BODY


def test_the_connection_of_one_client_is_ended_and_no_other() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as opened:
        clients = [
            opened.enter_context(socket.create_connection(server.getsockname())) for _ in range(2)
        ]
        served = [opened.enter_context(server.accept()[0]) for _ in range(2)]
        files = len(os.listdir("/dev/fd"))
        # Both ends are in this process: exactly one socket is connected to the first client.
        assert end_connection("{}:{}".format(*clients[0].getsockname()))
        assert not end_connection("127.0.0.1:1")
        assert len(os.listdir("/dev/fd")) == files
        assert clients[0].recv(1) == b""
        served[1].sendall(b"x")
        assert clients[1].recv(1) == b"x"


def test_the_number_of_large_responses_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        now = time.monotonic()
        streams = Streams()
        for _ in range(MOST_BODIES_OF_ONE):
            opened.enter_context(streams.sending("one"))
        with pytest.raises(Overloaded), streams.sending("one"):
            pass
        # None of them has read anything for a while, so another one gets a place.
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: now + SLOW_AFTER + 1)
            with streams.sending("one"):
                pass
        streams = Streams()
        for number in range(MOST_BODIES):
            opened.enter_context(streams.sending(f"{number}"))
        with pytest.raises(Overloaded), streams.sending("another"):
            pass
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: now + SLOW_AFTER + 1)
            with streams.sending("another"):
                pass

    with ExitStack() as opened:
        run(test())


def test_an_address_with_many_large_responses_makes_room_for_others() -> None:
    """Two addresses kept the others out, with slow clients or with those that hang up."""
    sent = Response(200, (), BODY)

    async def test() -> None:
        streams = Streams()

        def begin(address: str, *, is_sent: bool) -> Stream:
            stream = opened.enter_context(streams.sending(address))
            if is_sent:
                opened.enter_context(stream.opened(sent))
            return stream

        begun = [begin("one", is_sent=True) for _ in range(MOST_BODIES // 2)]
        waiting = [begin("two", is_sent=False) for _ in range(MOST_BODIES // 2)]
        most = MOST_BODIES - FEW_BODIES - 1
        others = [begin(f"{number}", is_sent=True) for number in range(most)]
        left = [[not one.is_cut_off for one in own] for own in (begun, waiting, others)]
        assert [sum(own) for own in left] == [FEW_BODIES, 1, most]
        assert left[0][:FEW_BODIES] == [True] * FEW_BODIES, "not the newest ones made room"
        with pytest.raises(Overloaded):
            begin("another", is_sent=False)

    with ExitStack() as opened:
        run(test())


def test_a_stream_that_makes_room_is_cut_off() -> None:
    async def test() -> None:
        stream = Stream("slow")
        waiting = asyncio.create_task(stream.wait_until_taken(asyncio.Event().wait()))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        stream.cut_off()
        assert not await waiting

    run(test())


@dataclass
class Sending:
    """Sends files of a cache to clients; the disk is almost full if it is ``short``."""

    kept: DiskCache
    opened: ExitStack
    streams: Streams

    def begin(self, key: str, address: str = "") -> tuple[Stream, Path]:
        """Begin to send the file under ``key``, of 100 bytes; each client has its own address."""
        if self.kept.find(key * 32) is None:
            self.kept.put(key * 32, bytes(84))  # 100 bytes with their checksum
        file = self.kept.find(key * 32)
        assert file is not None
        stream = self.opened.enter_context(self.streams.sending(address or token_hex()))
        self.opened.enter_context(stream.opened(Response(200, (), file=file)))
        return stream, file.path


@pytest.fixture
def sending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: bool) -> Iterator[Sending]:
    monkeypatch.setattr(streaming, "MOST_REMOVED", 250)
    monkeypatch.setattr(streaming, "CHECKED_EVERY", 0.05)
    monkeypatch.setattr(streaming, "ENOUGH_FREE", 1 << 60 if short else 1)
    with ExitStack() as opened:
        yield Sending(DiskCache(tmp_path / "kept", 1 << 24), opened, Streams())


async def going_on(sent: list[tuple[Stream, Path]]) -> list[bool]:
    """Return which files are still sent after a check of the disk."""
    await asyncio.sleep(0.1)
    return [await stream.wait_until_taken(asyncio.sleep(0)) for stream, _ in sent]


@pytest.mark.parametrize("short", [True, False])
def test_clients_are_cut_off_if_removed_files_occupy_too_much_of_a_full_disk(
    sending: Sending, short: bool
) -> None:
    """Those that read the same file count once; those whose file is not removed, not at all."""

    async def test() -> None:
        sent = [sending.begin(key) for key in "12234"]
        for _, path in sent[:4]:
            path.unlink(missing_ok=True)
        assert await going_on(sent) == [not short, *[True] * 4]

    run(test())


@pytest.mark.parametrize("short", [True, False])
def test_an_address_reads_one_removed_file_of_a_full_disk(sending: Sending, short: bool) -> None:
    async def test() -> None:
        sent = [sending.begin(key, address="192.0.2.1") for key in "1233"]
        sent.append(sending.begin("3"))
        for _, path in sent[1:]:
            path.unlink(missing_ok=True)
        assert await going_on(sent) == [True, not short, True, True, True]

    run(test())
